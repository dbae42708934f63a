package account

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// ErrSetup refuses a wrong set-up code, or any code once an owner exists.
var ErrSetup = fault.New(fault.Forbidden, "setup_code_invalid",
	"This set-up code is invalid or has expired, or there is already an owner. Restart the server for a new code.")

// SetupLifetime is how long a set-up code is valid. It is short, because the code stays in a terminal's history.
const SetupLifetime = time.Hour

// SetupStore stores set-up codes and the first owner, normally accountsql.
type SetupStore interface {
	// HasOwner reports whether an active owner exists.
	HasOwner(ctx context.Context) (bool, error)
	// AddCode stores the hash of a set-up code while there is no owner. needed is false if there is one.
	AddCode(ctx context.Context, hash string, now time.Time) (needed bool, err error)
	// HasCode reports whether a code with this hash was stored after a time.
	HasCode(ctx context.Context, hash string, after time.Time) (bool, error)
	// CreateOwner creates the first owner with such a code and deletes all codes. Of concurrent calls one succeeds; the
	// others return ErrSetup.
	CreateOwner(ctx context.Context, hash string, after time.Time, u User, from Caller) (User, error)
}

// Setup creates the first owner. The operator authorizes it with a code that the server prints at its start.
type Setup struct {
	Store  SetupStore
	Hasher *Hasher
	Now    func() time.Time
}

// NewCode returns a set-up code of 256 bits, or an empty one if an owner exists. Only its hash is stored, so every
// start without an owner prints a new code; earlier ones stay valid until SetupLifetime has passed.
func (s *Setup) NewCode(ctx context.Context) (code string, err error) {
	code = NewRefreshToken()
	needed, err := s.Store.AddCode(ctx, TokenHash(code), s.Now())
	if err != nil || !needed {
		return "", err
	}
	return code, nil
}

// Needed reports whether the installation has no owner yet.
func (s *Setup) Needed(ctx context.Context) (bool, error) {
	has, err := s.Store.HasOwner(ctx)
	return !has, err
}

// CreateOwner creates the first owner. The code is checked before the password is hashed, so that a request without a
// valid code costs no hash.
func (s *Setup) CreateOwner(ctx context.Context, code string, p Profile, password string, from Caller) (User, error) {
	hash, after := TokenHash(code), s.Now().Add(-SetupLifetime)
	offered, err := s.Store.HasCode(ctx, hash, after)
	if err != nil {
		return User{}, err
	}
	if !offered {
		return User{}, ErrSetup
	}
	if p, err = p.normalizedNew(); err != nil {
		return User{}, err
	}
	if err := CheckPassword(password, true, p.Email, p.Username); err != nil {
		return User{}, err
	}
	phc, err := s.Hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	// The code is checked again in the transaction: another request may have used it since.
	return s.Store.CreateOwner(ctx, hash, after, User{
		Profile: p, PasswordHash: phc, Role: authz.RoleOwner, Status: Active, CreatedAt: s.Now(),
		CreatedBy: authz.System().String(),
	}, from)
}
