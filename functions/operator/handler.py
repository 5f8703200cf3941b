"""Lambda function `operator`: what operators do to tribes, agents, spaces and indexes. Only IAM lets anybody invoke it."""

from tributary.edges.lambda_http import operator_handler

handler = operator_handler()
