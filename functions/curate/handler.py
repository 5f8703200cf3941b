"""Lambda function `curate`: how lessons end, how disputes are settled, what curators look through, and who may use the memory."""

from tributary.edges.lambda_http import handler_for

handler = handler_for("curate")
