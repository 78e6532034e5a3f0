"""How a request travels to a target: connection, credentials, signatures."""
