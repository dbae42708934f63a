package account

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// AccessTokenTTL is the lifetime of an access token. Only a revocation ends it earlier. It must stay below
// revocationTTL: a revocation has to outlive every token that it refuses.
const AccessTokenTTL = 10 * time.Minute

// MaxAccessToken is the maximum length of an access token in bytes. Ours are about 350 bytes; longer input is refused
// before it is hashed or parsed.
const MaxAccessToken = 4 << 10

// Claims are the contents of an access token: the account and its session. Permissions are not part of it, so that a
// token cannot be out of date about them.
type Claims struct {
	ID        string // jti
	UserID    int64
	Session   string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// TokenCodec signs and parses access tokens, normally accountjwt.
type TokenCodec interface {
	Sign(c Claims) (string, error)
	// Parse returns the claims of a token that this installation signed and that is valid at now.
	Parse(token string, now time.Time) (Claims, error)
	// ParseExpired returns the claims of a token that this installation signed, even if it has expired. They identify
	// a session and prove no right to use it.
	ParseExpired(token string) (Claims, error)
}

// Sizes of refresh tokens: random bytes, and characters of their base64 text.
const (
	refreshBytes = 32
	refreshChars = 43
)

// NewRefreshToken returns a refresh token of 256 random bits.
func NewRefreshToken() string {
	b := make([]byte, refreshBytes)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return base64.RawURLEncoding.EncodeToString(b)
}

// TokenHash returns the SHA-256 of a token in hexadecimal, which is stored in place of the token. A token has 256
// random bits, so neither a salt nor a slow hash would add security.
func TokenHash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// successorPurpose separates the key that encrypts the successor of a refresh token from keys for other purposes.
const successorPurpose = "comanda refresh successor"

// encryptSuccessor encrypts the successor of a refresh token with a key derived from that token. A client that repeats the
// token receives the same successor; a reader of the database does not.
func encryptSuccessor(token, next string) (string, error) {
	return Encrypt(deriveKey(token, successorPurpose), successorPurpose, next)
}

// decryptSuccessor decrypts what encryptSuccessor returned, with the same token.
func decryptSuccessor(token, encrypted string) (string, error) {
	return Decrypt(deriveKey(token, successorPurpose), successorPurpose, encrypted)
}

// claims returns the claims of the access token for the session's current refresh token. They depend on the session
// only, so that a repeated refresh returns the same pair.
func (s Session) claims() Claims {
	// The id is new with each refresh, so that blocking one access token at a logout leaves later ones alone.
	sum := sha256.Sum256([]byte("access " + s.TokenHash))
	c := Claims{
		ID: hex.EncodeToString(sum[:16]), UserID: s.UserID, Session: s.ID, IssuedAt: s.RotatedAt,
		ExpiresAt: s.RotatedAt.Add(AccessTokenTTL),
	}
	// A token never outlives its session.
	if s.ExpiresAt.Before(c.ExpiresAt) {
		c.ExpiresAt = s.ExpiresAt
	}
	return c
}
