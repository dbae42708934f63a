// Package identityjwt writes access tokens as JSON Web Tokens (RFC 9068): signed with HS256 and nothing else, by one key.
// No other key counts, so that a stolen one is worth nothing as soon as it was replaced; clients then refresh.
//
// A token is an account's name tag for ten minutes. Nothing of it is believed before its signature was checked, and no
// key or address that stands in its header is ever looked at but the name of the key.
package identityjwt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"comanda/internal/identity"
)

const (
	tokenType = "at+jwt" // RFC 9068: no other token of ours can be taken for one
	issuer    = "comanda"
	audience  = "comanda"

	// MinKey is the least length of a key in bytes, that of the hash.
	MinKey = 32

	// leeway is how far the clocks of several processes may differ.
	leeway = 2 * time.Second
)

var (
	errKey   = fmt.Errorf("identityjwt: a key needs at least %d bytes", MinKey)
	errToken = errors.New("identityjwt: not an access token of ours")
)

// Tokens is identity.Tokens. It is safe for concurrent use.
type Tokens struct{ key atomic.Pointer[signingKey] }

type signingKey struct {
	name  string // a hash of the key
	bytes []byte
}

// New makes tokens that are signed with a key.
func New(key []byte) (*Tokens, error) {
	t := &Tokens{}
	return t, t.Use(key)
}

// Use replaces the key. Tokens that were signed with the one before are refused from then on.
func (t *Tokens) Use(key []byte) error {
	if len(key) < MinKey {
		return errKey
	}
	t.key.Store(&signingKey{nameOf(key), key})
	return nil
}

// nameOf tells keys apart without telling anything of them.
func nameOf(key []byte) string {
	sum := sha256.Sum256(append([]byte("comanda key id "), key...))
	return hex.EncodeToString(sum[:4])
}

// claims are the registered ones and the session.
type claims struct {
	jwt.RegisteredClaims

	Session string `json:"sid"`
}

// Sign writes a token. Equal claims give the same text.
func (t *Tokens) Sign(c identity.Claims) (string, error) {
	issued := jwt.NewNumericDate(c.IssuedAt)
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: issuer, Audience: jwt.ClaimStrings{audience}, Subject: strconv.FormatInt(c.UserID, 10), ID: c.ID,
			IssuedAt: issued, NotBefore: issued, ExpiresAt: jwt.NewNumericDate(c.ExpiresAt),
		},
		Session: c.Session,
	})
	key := t.key.Load()
	token.Header["typ"], token.Header["kid"] = tokenType, key.name
	return token.SignedString(key.bytes)
}

// Read gives what a token says if it is ours and good at an instant.
func (t *Tokens) Read(text string, now time.Time) (identity.Claims, error) {
	if len(text) > identity.MaxAccessToken {
		return identity.Claims{}, errToken
	}
	p := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithAudience(audience),
		jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(), jwt.WithIssuedAt(), jwt.WithStrictDecoding(),
		jwt.WithLeeway(leeway), jwt.WithTimeFunc(func() time.Time { return now }))
	var c claims
	if _, err := p.ParseWithClaims(text, &c, t.named); err != nil {
		return identity.Claims{}, err
	}
	user, err := strconv.ParseInt(c.Subject, 10, 64)
	if err != nil || user <= 0 || c.ID == "" || c.Session == "" || c.IssuedAt == nil {
		return identity.Claims{}, errToken
	}
	return identity.Claims{
		ID: c.ID, UserID: user, Session: c.Session, IssuedAt: c.IssuedAt.UTC(), ExpiresAt: c.ExpiresAt.UTC(),
	}, nil
}

// named returns the key if it is the one that a token names. The library has checked the algorithm by then.
func (t *Tokens) named(token *jwt.Token) (any, error) {
	key := t.key.Load()
	name, _ := token.Header["kid"].(string)
	if kind, _ := token.Header["typ"].(string); name != key.name || kind != tokenType {
		return nil, errToken
	}
	return key.bytes, nil
}
