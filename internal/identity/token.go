package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"

	"comanda/internal/fault"
)

// AccessLife is how long an access token is good for; what makes it invalid earlier is a revocation.
const AccessLife = 10 * time.Minute

// MaxAccessToken is the longest text that is read as an access token, in bytes. Ours have about 350.
const MaxAccessToken = 4 << 10

// Claims are what an access token says. It says who and which login; what they may do is asked of SQL, so that a token
// cannot be out of date about it.
type Claims struct {
	ID        string // jti
	UserID    int64
	Session   string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Tokens signs and reads access tokens, normally identityjwt.
type Tokens interface {
	Sign(c Claims) (string, error)
	// Read gives what a token says if it is ours and good at an instant, otherwise an error.
	Read(token string, now time.Time) (Claims, error)
}

// ErrToken refuses an access token, for whatever reason: which one is nobody's business who does not have a good one.
var ErrToken = fault.New(fault.Unauthenticated, "unauthenticated", "A valid bearer token is needed.")

// Sizes of refresh tokens.
const (
	refreshBytes = 32
	refreshChars = 43
)

// NewRefreshToken makes a refresh token: 256 random bits.
func NewRefreshToken() string {
	b := make([]byte, refreshBytes)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// TokenHash is what is kept of a refresh token: its SHA-256 in hexadecimal. It has 256 random bits, so neither salt nor
// a slow function would add anything.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// successorUse is what the successor of a refresh token is sealed for.
const successorUse = "comanda refresh successor"

// sealSuccessor seals the token that follows another one, so that who shows that one again at once gets the same
// successor, and who reads the database gets none.
func sealSuccessor(token, next string) (string, error) {
	return Seal(keyOf(token, successorUse), successorUse, next)
}

func openSuccessor(token, sealed string) (string, error) {
	return Open(keyOf(token, successorUse), successorUse, sealed)
}

// claims are those of the access token that belongs to a session's refresh token. They follow from the session alone,
// so that whoever repeats a refresh gets the same pair.
func (s Session) claims() Claims {
	sum := sha256.Sum256([]byte("access " + s.TokenHash))
	c := Claims{
		ID: hex.EncodeToString(sum[:16]), UserID: s.UserID, Session: s.ID, IssuedAt: s.RotatedAt,
		ExpiresAt: s.RotatedAt.Add(AccessLife),
	}
	if s.ExpiresAt.Before(c.ExpiresAt) {
		c.ExpiresAt = s.ExpiresAt
	}
	return c
}
