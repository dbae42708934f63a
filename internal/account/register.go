package account

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// Registration is the input of Register.
type Registration struct {
	Profile  Profile
	Password string
	News     bool // the consent to news; without it, no e-mail but those that the account needs or has chosen
}

// Register creates a pending account and e-mails the code that verifies its address.
func (a *Service) Register(ctx context.Context, r Registration, c Caller) (User, error) {
	// Every call counts, successful or not, because each may cost a hash and an e-mail.
	if err := a.reserve(ctx, LimitRegisterIP, c.Network); err != nil {
		return User{}, err
	}
	p, err := r.Profile.normalizedNew()
	if err != nil {
		return User{}, err
	}
	if err := CheckPassword(r.Password, false, p.Email, p.Username); err != nil {
		return User{}, err
	}
	other, found, err := a.Users.Find(ctx, p.Email, p.Username) // avoids a useless hash; the unique indexes decide
	if err != nil {
		return User{}, err
	}
	if found {
		return User{}, TakenError(p, other.Profile)
	}
	u := User{Profile: p, Role: authz.RoleUser, Status: Pending}
	if u.PasswordHash, err = a.Hasher.Hash(ctx, r.Password); err != nil {
		return User{}, err
	}
	u.CreatedAt = a.Now()
	code := newCode()
	l, err := a.codeEmail(u, TemplateVerify, code, c.Locale, u.CreatedAt)
	if err != nil {
		return User{}, fault.Wrap("encrypt a code", err)
	}
	choices := DefaultMailChoices()
	choices.News = r.News
	stored := a.newStoredCode(u, Verify, code, u.CreatedAt)
	if u, err = a.Users.Register(ctx, u, stored, l, choices, c.Locale); err != nil {
		return User{}, err
	}
	a.recordSent(ctx, Verify, u.ID, u.CreatedAt)
	return u, nil
}

// destination returns the subject by which codes of an e-mail address are counted: its hash, cut to 128 bits, which do
// not collide by chance. The counts therefore contain no address that an unknown client has typed.
func destination(email string) string { return TokenHash(email)[:32] }

// newStoredCode returns the stored form of a code that is sent at now.
func (a *Service) newStoredCode(u User, p Purpose, code string, now time.Time) Code {
	return Code{
		Purpose: p, UserID: u.ID, Destination: destination(u.Email), Hash: codeHash(a.Keys.Code, p, u.Email, code),
		SentAt: now, ExpiresAt: now.Add(CodeTTL),
	}
}

// codeEmail returns the e-mail that carries a code.
func (a *Service) codeEmail(u User, template, code, locale string, now time.Time) (Email, error) {
	encrypted, err := Encrypt(a.Keys.Mail, mailPurpose, code)
	return Email{
		To: u.Email, Template: template, Locale: locale, Expires: now.Add(CodeTTL),
		Fields: map[string]string{FieldCode: encrypted, FieldName: u.Greeting()},
	}, err
}

// recordSent counts a sent code and caches the fact in Redis.
func (a *Service) recordSent(ctx context.Context, p Purpose, user int64, at time.Time) {
	a.Observer.code("sent")
	_ = a.Cache.PutCode(ctx, p, user, at) // best effort: SQL is authoritative
}

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
