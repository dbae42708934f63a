package keyspace

import "time"

// RateWindow is the longest window of a rate limit.
const RateWindow = time.Hour

var rate = declare(Decl{
	Pattern:  "app:rate:%action%:%subject%",
	Segments: []Segment{{"action", "az__", 14}, {"subject", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Millisecond, RateWindow}, Class: Lossy, Owner: "limit",
	Purpose: "theoretical arrival time of a subject (GCRA, Unix ms); limits that must never be exceeded are in SQL",
})

// Rate returns the key of a subject's usage under a rate limit. It hashes the subject, an address or a token.
func Rate(action, subject string) Key { return rate.key(action, Secret(subject)) }
