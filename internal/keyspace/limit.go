package keyspace

import "time"

// RateWindow is the longest window of a rate limit.
const RateWindow = time.Hour

var rate = declare(Decl{
	Pattern:  "app:rate:%action%:%subject%",
	Segments: []Segment{{"action", "az__", 14}, {"subject", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Millisecond, RateWindow}, Class: Lossy, Owner: "limit",
	Purpose: "the instant at which what a subject was granted is paid off (unix ms); hard caps are in SQL",
})

// Rate returns the key of a subject's usage under a rate limit. It hashes the subject, an address or a token.
func Rate(action, subject string) Key { return rate.key(action, Secret(subject)) }
