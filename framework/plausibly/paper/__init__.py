"""The figures and the table of the paper, reproduced: numbers, a picture, and the claim.

Stutz et al., *Conformal prediction under ambiguous ground truth*, TMLR 2023. One module a figure;
`plausibly.paper.run` lists them in the order of the paper.
"""
