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
	if u, err = a.Users.Register(ctx, u, a.newStoredCode(u, Verify, code, u.CreatedAt), l); err != nil {
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
