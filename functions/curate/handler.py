"""Lambda function `curate`: how lessons end, how disputes are settled, and what curators look through."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("curate")
