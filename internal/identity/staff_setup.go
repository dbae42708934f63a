package identity

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// ErrSetup refuses whoever has not the code that the server has printed, or comes second.
var ErrSetup = fault.New(fault.Forbidden, "setup_code_invalid",
	"This is not a set-up code, or the house has its owner already.")

// Installation is a house that has no owner yet, normally identitysql.
type Installation interface {
	// Offer keeps the hash of a set-up code while the house has no owner; needed is false when it has one.
	Offer(ctx context.Context, hash string, now time.Time) (needed bool, err error)
	// Offered tells whether a code is one that was offered.
	Offered(ctx context.Context, hash string) (bool, error)
	// SetUp makes the first owner by a code; all codes are worth nothing afterwards. ErrSetup to whoever comes second.
	SetUp(ctx context.Context, hash string, u User, from Caller) (User, error)
}

// Setup makes the house's first owner: whoever can read what the server prints at its first start.
type Setup struct {
	House  Installation
	Hasher *Hasher
	Now    func() time.Time
}

// Offer gives a code of 256 bits with which the first owner can be made, until one is; empty when the house has one.
// Only its hash is kept, so every start of a house without an owner has a code of its own.
func (s *Setup) Offer(ctx context.Context) (code string, err error) {
	code = NewRefreshToken()
	needed, err := s.House.Offer(ctx, TokenHash(code), s.Now())
	if err != nil || !needed {
		return "", err
	}
	return code, nil
}

// SetUp makes the first owner. The code is looked at before the password is worked on: only who has one costs anything.
func (s *Setup) SetUp(ctx context.Context, code string, p Profile, password string, from Caller) (User, error) {
	hash := TokenHash(code)
	offered, err := s.House.Offered(ctx, hash)
	if err != nil {
		return User{}, err
	}
	if !offered {
		return User{}, ErrSetup
	}
	if p, err = p.Normalised(); err != nil {
		return User{}, err
	}
	if p.Email == "" {
		return User{}, invalid("An e-mail address is needed.")
	}
	if err := CheckPassword(password, true, p.Email, p.Username); err != nil {
		return User{}, err
	}
	phc, err := s.Hasher.Hash(ctx, password)
	if err != nil {
		return User{}, err
	}
	return s.House.SetUp(ctx, hash, User{
		Profile: p, PasswordHash: phc, Role: RoleOwner, Status: Active, CreatedAt: s.Now(), CreatedBy: System().String(),
	}, from)
}
