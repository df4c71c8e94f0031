"""A model's numbers over many sizes at once: sweeps over a grid or over columns, and the search for a budget.

No count has a second formula here. A number is a polynomial of the model's sizes (`ffncalc.expr`); `cells` finds out
which of the swept sizes stand in it as they are and resolves the config anew for every value of the others;
`polynomial` evaluates what is left on NumPy arrays. Only this package and `ffncalc.numeric` import NumPy.
"""
