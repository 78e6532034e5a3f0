"""The path of a request to a target: connection, credentials, signatures."""
