"""Reports about nothing, quickly made: data in the shape of a report, of any size and any names."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import attrs

from plausibly.report.model import Check, Finding, Interval, Part, ReportData, Section, Words

Answer = tuple[int, tuple[tuple[int, ...], ...], float]

NONE = Interval(mean=None, low=None, high=None)
STRATA = ("below 0.5", "0.5 to 0.8", "0.8 and above")


@attrs.frozen(kw_only=True)
class World:
    """What a made-up report is about."""

    title: str = "chest findings"
    names: Sequence[str] = ("nodule", "fibrosis", "normal", "effusion", "mass")
    examples: int = 60
    total: int | None = None
    annotators: Sequence[str] = tuple(f"r{i:02}" for i in range(1, 9))
    example_name: str = "case_{:04}"
    sites: Sequence[str] = ("north", "south", "east")
    answers: int = 6
    agreed: bool = False
    ranked: bool = False
    severities: Sequence[str] = ()
    text: str = ""
    thumbnail: str = ""
    own_scores: bool = False
    alphas: Sequence[str] = ("0.1", "0.05")
    methods: Sequence[str] = ("expected", "majority-vote")
    worst: str = "kept"
    seed: int = 1


def report(world: World) -> ReportData:
    """Return the data of a report about `world`."""
    return _Made(world).report()


def around(mean: float, wide: float = 0.01) -> Interval:
    """Return a mean with an interval."""
    return Interval(mean=mean, low=max(0.0, mean - wide), high=min(1.0, mean + wide))


class _Made:
    def __init__(self, world: World) -> None:
        self.world = world
        self.random = Random(world.seed)
        self.count = len(world.names)
        cases = range(world.examples)
        self.said = [self.answers_of() for _ in cases]
        self.votes = [self.votes_of(said) for said in self.said]
        self.model = [self.model_of(votes) for votes in self.votes]
        self.listed = [self.listed_of(i) for i in cases]
        self.site = [self.random.randrange(max(1, len(world.sites))) for _ in cases]
        self.views = [
            (method, alpha)
            for method in range(len(world.methods))
            for alpha in range(len(world.alphas))
        ]

    def answers_of(self) -> list[Answer]:
        centre = self.random.randrange(self.count)
        said: list[Answer] = []
        for _ in range(self.world.answers):
            other = self.random.randrange(self.count)
            first = centre if self.world.agreed or self.random.random() < 0.6 else other
            blocks: tuple[tuple[int, ...], ...] = ((first,),)
            if self.world.ranked and self.count > 3:
                rest = [k for k in range(min(self.count, 8)) if k != first]
                self.random.shuffle(rest)
                blocks = ((first,), tuple(sorted(rest[:2])), (rest[2],))
            said.append((self.random.randrange(len(self.world.annotators)), blocks, 1))
        return said

    def votes_of(self, said: Sequence[Answer]) -> dict[int, float]:
        votes: dict[int, float] = {}
        for _, blocks, weight in said:
            votes[blocks[0][0]] = votes.get(blocks[0][0], 0) + weight / self.world.answers
        return votes

    def model_of(self, votes: dict[int, float]) -> dict[int, float]:
        chosen = {*votes, *(self.random.randrange(self.count) for _ in range(6))}
        raw = {k: self.random.random() * 0.3 + votes.get(k, 0) for k in sorted(chosen)}
        total = sum(raw.values())
        return {k: value / total for k, value in raw.items()}

    def listed_of(self, i: int) -> tuple[int, ...]:
        return tuple(sorted({*self.votes[i], *self.model[i]}))[:30]

    def p_of(self, i: int, method: int) -> tuple[int, ...]:
        return tuple(
            min(1000, int(1000 * self.model[i][k] ** (1.5 if method else 1.2)))
            for k in self.listed[i]
        )

    def cases(self) -> Section:
        world = self.world
        every = range(world.examples)
        p = tuple(
            tuple(self.p_of(i, method) for i in every) for method in range(len(world.methods))
        )
        sets, size, missed, severity_missed = [], [], [], []
        for method, alpha in self.views:
            level = 1000 * float(Fraction(world.alphas[alpha]))
            inside = [[value > level for value in p[method][i]] for i in every]
            sets.append(tuple(sum(1 << j for j, in_ in enumerate(row) if in_) for row in inside))
            size.append(tuple(sum(row) for row in inside))
            out = [
                {k for k, in_ in zip(self.listed[i], inside[i], strict=True) if not in_}
                for i in every
            ]
            missed.append(
                tuple(
                    round(1000 * sum(v for k, v in self.votes[i].items() if k in out[i]))
                    for i in every
                )
            )
            severity_missed.append(
                tuple(
                    max((self.severity(k) for k in out[i] & {*self.votes[i]}), default=-1)
                    for i in every
                )
            )
        largest = tuple(round(1000 * max(votes.values())) for votes in self.votes)
        total = world.total or world.examples
        return Section(
            sentence="Cases where the set leaves out most of what was said come first.",
            shown_sentence=f"{world.examples:,} of {total:,} cases are shown."
            if total > world.examples
            else "",
            total=total,
            shown=world.examples,
            names=tuple(world.example_name.format(i) for i in every),
            listed=tuple(self.listed),
            unlisted=tuple(self.count - len(listed) for listed in self.listed),
            unlisted_words="no plausibility, not in a set, low scores",
            plausibility=tuple(
                tuple(round(1000 * self.votes[i].get(k, 0)) for k in self.listed[i]) for i in every
            ),
            prediction=tuple(
                tuple(round(1000 * self.model[i][k]) for k in self.listed[i]) for i in every
            ),
            prediction_words="the model's probability",
            scores=(
                Section(
                    name="margin",
                    values=tuple(tuple(-250 for _ in self.listed[i]) for i in every)
                    if world.own_scores
                    else None,
                ),
            ),
            p=p,
            sets=tuple(sets),
            size=tuple(size),
            missed=tuple(missed),
            largest=largest,
            stratum=tuple(0 if v < 500 else 1 if v < 800 else 2 for v in largest),
            groups=(tuple(self.site),) if world.sites else (),
            severity_missed=tuple(severity_missed),
            answers=tuple(tuple(said) for said in self.said),
            annotators=tuple(world.annotators),
            ranked=world.ranked,
            text=tuple(world.text for _ in every) if world.text else None,
            thumbnail=tuple(world.thumbnail for _ in every) if world.thumbnail else None,
        )

    def severity(self, label: int) -> int:
        return label % len(self.world.severities) if self.world.severities else -1

    def view(self, cases: Section, place: int) -> Section:
        world = self.world
        method, alpha = self.views[place]
        n = world.examples
        covered = [1 - value / 1000 for value in cases.missed[place]]
        mean = sum(covered) / n
        sizes = sorted({*cases.size[place]})
        low_sites = range(len(world.sites))
        parts = [
            Part(
                kind="ambiguity",
                title=f"most frequent answer {title}",
                n=cases.stratum.count(s),
                covered=around(0.8 + s / 15 - place / 50, 0.03),
                size=around(2.0),
                clear=s == 0,
                stratum=s,
            )
            for s, title in enumerate(STRATA)
        ]
        parts += [
            Part(
                kind="group",
                title=f"site {world.sites[s]}",
                n=cases.groups[0].count(s),
                covered=around(0.84 + s / 30 - place / 50, 0.02),
                size=around(2.0),
                clear=s == 0,
                where=((0, s),),
            )
            for s in low_sites
        ]
        guaranteed = (
            None
            if world.methods[method] == "majority-vote"
            else 1 - float(Fraction(world.alphas[alpha]))
        )
        findings = [
            Finding(
                severity=world.worst, name="guarantee", sentence=f"The guarantee is {world.worst}."
            ),
            Finding(
                severity="weak",
                name="weak-group",
                sentence="Site north is below the guarantee.",
                action="Calibrate by site.",
                part=3 if world.sites else 0,
            ),
        ]
        return Section(
            method=method,
            alpha=alpha,
            verdict=Section(
                sentence=f"{world.methods[method]} at {world.alphas[alpha]} covers {mean:.3f}.",
                about="Measured 0.900, guaranteed 0.90 on average.",
                limits="The sets say what radiologists answer, not what is true.",
                findings=tuple(findings),
                guarantee=Section(
                    statement="no guarantee"
                    if guaranteed is None
                    else f"P(Y in C(X)) >= {guaranteed:.2f}",
                    level=guaranteed,
                    shown="none" if guaranteed is None else f"{guaranteed:.2f}",
                    rows=(("covers", "an answer"), ("assumes", "exchangeable")),
                ),
            ),
            vote=Section(
                sentence="Calibrating on the vote would leave out 9 more of every 100 opinions.",
                aggregated=around(mean),
                voted=(
                    ("first", around(0.95)),
                    ("fractional", around(0.93)),
                    ("any", around(0.97)),
                ),
                true=None,
                size=around(sum(cases.size[place]) / n),
                share_empty=cases.size[place].count(0) / n,
                share_single=cases.size[place].count(1) / n,
            ),
            realised=self.realised(cases, covered),
            weak=Section(
                sentence="In 1 of 3 groups the sets cover clearly less.",
                level=guaranteed,
                parts=tuple(parts),
                note="Intervals hold for all groups together.",
                nothing="",
            ),
            sizes=Section(
                sentence="Half the sets name one or two findings.",
                bars=tuple(
                    Section(low=s, high=s, count=cases.size[place].count(s), covered=around(0.9))
                    for s in range(sizes[0], sizes[-1] + 1)
                ),
            ),
            surprising=Section(
                sentence="Most is left out of these.", cases=tuple(range(min(5, n)))
            ),
            splits=Section(
                sentence="Over 100 splits, coverage stays near what is guaranteed.",
                aggregated=tuple(self.random.gauss(0.9, 0.01) for _ in range(100)),
            ),
        )

    def realised(self, cases: Section, covered: Sequence[float]) -> Section:
        n = len(covered)
        places = sorted({round(i * (n - 1) / 199) for i in range(200)}) if n > 200 else range(n)
        ordered = sorted(covered)
        largest = sorted(value / 1000 for value in cases.largest)
        return Section(
            sentence="A tenth of the cases are covered less than half.",
            share=tuple((i + 1) / n for i in places),
            aggregated=tuple(ordered[i] for i in places),
            voted=tuple(float(i > n / 10) for i in places),
            largest=tuple(largest[i] for i in places),
        )

    def disagreement(self) -> Section:
        pairs: dict[tuple[int, int], list[int]] = {}
        for votes in self.votes:
            for a in votes:
                for b in votes:
                    if a < b:
                        found = pairs.setdefault((a, b), [0, 0])
                        found[0] += round(votes[a] * votes[b] * self.world.answers**2)
                        found[1] += 1
        most = sorted(pairs, key=lambda pair: -pairs[pair][0])[:10]
        labels = tuple(sorted({k for pair in most for k in pair}))[:12]
        return Section(
            sentence="Two radiologists agree on 71 of 100 cases." if pairs else "All agree.",
            measures=(
                Section(
                    name="alpha", title="Krippendorff alpha", value=around(0.42, 0.03), reason=""
                ),
                Section(
                    name="kappa", title="Fleiss kappa", value=NONE, reason="answers are too few"
                ),
            ),
            annotators=tuple(
                Section(
                    name=name,
                    answers=40 + i,
                    agreement=0.5 + i / 40,
                    others=0.6,
                    vote=None if i == 2 else 0.7 - i / 40,
                    low=i == 0,
                    says=0 if i == 0 else None,
                    says_share=0.9 if i == 0 else None,
                    says_others=0.5 if i == 0 else None,
                )
                for i, name in enumerate(self.world.annotators)
            ),
            who="r01 stands out.",
            labels=labels,
            cells=tuple(
                Section(a=a, b=b, pairs=value, examples=n)
                for (a, b), (value, n) in sorted(pairs.items())
                if a in labels and b in labels
            ),
            note="Pairs of answers.",
            nothing="" if pairs else "No two answers differ, so there is nothing to show.",
        )

    def report(self) -> ReportData:
        world = self.world
        cases = self.cases()
        return ReportData(
            title=world.title,
            subtitle=f"{cases.total:,} cases, {self.count} labels, {len(world.annotators)} experts",
            words=Words(
                example="case", examples="cases", annotator="radiologist", annotators="radiologists"
            ),
            labels=tuple(
                Section(
                    name=name,
                    severity=self.severity(k),
                    risk=world.severities[self.severity(k)] if world.severities else "",
                )
                for k, name in enumerate(world.names)
            ),
            methods=tuple(
                Section(
                    name=name,
                    about=f"{name}, combiner average",
                    score=0,
                    reference=name == "majority-vote",
                )
                for name in world.methods
            ),
            alphas=tuple(world.alphas),
            groups=(Section(name="site", values=tuple(world.sites)),) if world.sites else (),
            strata=STRATA,
            views=tuple(self.view(cases, place) for place in range(len(self.views))),
            disagreement=self.disagreement(),
            cases=cases,
            assumptions=Section(
                sentence="No assumption we can check is broken.",
                checks=(
                    Check(
                        name="exchangeable",
                        title="New cases resemble these",
                        state="cannot be checked",
                        words="It cannot.",
                    ),
                    Check(
                        name="twice",
                        title="No case twice",
                        state="held",
                        words="Every name is there once.",
                    ),
                ),
                uniformity=tuple(
                    Section(
                        method=m,
                        of=of,
                        guaranteed=of == "drawn",
                        counts=tuple(self.random.randrange(40, 60) for _ in range(20)),
                        p=0.41,
                        n=1000,
                        sentence="P-values are as they should be.",
                    )
                    for m in range(len(world.methods))
                    for of in ("drawn", "majority-vote")
                ),
                nothing=("",) * len(world.methods),
            ),
            provenance=Section(
                sentence="This command gives this report again.",
                command="plausibly report study.toml",
                names="This page contains names.",
                study='seed = 1\nalphas = [0.1, 0.05]\n\n[annotations]\npath = "votes.csv"\n',
                rows=(("random seed", "1"), ("fingerprint", "b1946ac9")),
                versions=(("plausibly", "0.1.0"), ("numpy", "2.4.0")),
            ),
        )
