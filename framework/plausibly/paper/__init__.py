"""The paper's figures and its table, made again: numbers, a picture, and whether the claim held.

Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023. One module a figure;
`plausibly.paper.run` lists them in the order of the paper.
"""
