package keyspace

import (
	"time"
)

// TTLs of account keys.
const (
	SessionLife = 30 * time.Minute   // sliding; afterwards the session is read from SQL
	RefreshLife = 7 * 24 * time.Hour // for operators only, see the declaration
	CodeLife    = 5 * time.Minute    // SQL decides whether a code is still valid
)

var sessionSegment = Segment{"session", uidChars, 26}

var session = declare(Decl{
	Pattern:  "app:session:%session%",
	Segments: []Segment{sessionSegment},
	Type:     Hash, TTL: TTL{time.Second, SessionLife}, Class: Guarded, Owner: "account", Source: "auth_session, app_user",
	Rebuild: "account.authenticate",
	Purpose: "an active session: userId, roleId, role, branches, loginAt, expiresAt (Unix ms), address, seal; sliding TTL",
})

// Session returns the key of a session.
func Session(id string) Key { return session.key(id) }

var refreshToken = declare(Decl{
	Pattern:  "app:token:refresh:%familyHash%",
	Segments: []Segment{{"familyHash", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Second, RefreshLife}, Class: Guarded, Owner: "account", Source: "auth_session",
	Rebuild: "account.authenticate",
	Purpose: "SHA-256 of a session's current refresh token, for operators; SQL decides",
})

// RefreshToken returns the key of a session's refresh token. It hashes the session id.
func RefreshToken(session string) Key { return refreshToken.key(Secret(session)) }

var barredToken = declare(Decl{
	Pattern:  "app:token:blacklist:%jtiHash%",
	Segments: []Segment{{"jtiHash", hashChars, secretLen}},
	Type:     String, TTL: TTL{time.Second, 11 * time.Minute}, Class: Guarded, Owner: "account", Source: "auth_revocation",
	Rebuild: "account.syncRevocations",
	Purpose: "a logged-out access token, until it expires; the revocations in SQL decide",
})

// RevokedToken returns the key that marks an access token as revoked. It hashes the token's id.
func RevokedToken(jti string) Key { return barredToken.key(Secret(jti)) }

var oneTimeCode = declare(Decl{
	Pattern:  "app:temp:otp:%purpose%:%user%",
	Segments: []Segment{{"purpose", "az", 6}, {"user", digits, 19}},
	Type:     Hash, TTL: TTL{time.Second, CodeLife}, Class: Guarded, Owner: "account", Source: "auth_otp",
	Rebuild: "account.requestCode",
	Purpose: "a one-time code was sent: sentAt (Unix ms); the code itself is only in SQL, as an HMAC",
})

// OneTimeCode returns the key of a code that was sent to an account; purpose is verify or reset.
func OneTimeCode(purpose string, user int64) Key { return oneTimeCode.key(purpose, decimal(user)) }

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
