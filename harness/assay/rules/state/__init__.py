"""What a history shows at a moment: consents, call counts, answers, date ranges, periods."""
