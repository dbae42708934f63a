package keyspace

import "time"

// RateWindow is the longest window of a limit.
const RateWindow = time.Hour

var rate = declare(Decl{
	Pattern:  "app:rate:%action%:%subject%",
	Segments: []Segment{{"action", "az__", 14}, {"subject", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Millisecond, RateWindow}, Class: Lossy, Owner: "limit",
	Purpose: "the instant at which what a subject was granted is paid off (unix ms); hard caps are in SQL",
})

// Rate is the key of what a subject has taken under a limit. The subject, an address or a token, is hashed here.
func Rate(action, subject string) Key { return rate.key(action, Secret(subject)) }
