package identity

import (
	"context"
	"time"

	"comanda/internal/fault"
)

// Registration is what somebody gives to become a member.
type Registration struct {
	Profile  Profile
	Password string
}

// Register makes an account that waits for the proof of its e-mail address, and sends the code for it.
func (a *Accounts) Register(ctx context.Context, r Registration, c Caller) (User, error) {
	if err := a.allow(ctx, LimitRegisterIP, c.Network); err != nil {
		return User{}, err
	}
	p, err := r.Profile.Normalised()
	if err != nil {
		return User{}, err
	}
	if p.Email == "" {
		return User{}, invalid("An e-mail address is needed.")
	}
	if err := CheckPassword(r.Password, false, p.Email, p.Username); err != nil {
		return User{}, err
	}
	other, found, err := a.Registry.Find(ctx, p.Email, p.Username) // spares the hash; the unique indexes decide
	if err != nil {
		return User{}, err
	}
	if found {
		return User{}, Taken(p, other.Profile)
	}
	u := User{Profile: p, Role: RoleUser, Status: Pending}
	if u.PasswordHash, err = a.Hasher.Hash(ctx, r.Password); err != nil {
		return User{}, err
	}
	u.CreatedAt = a.Now()
	code := newCode()
	l, err := a.letter(u, LetterVerify, code, c.Locale, u.CreatedAt)
	if err != nil {
		return User{}, fault.Wrap("seal a code", err)
	}
	if u, err = a.Registry.Register(ctx, u, a.code(u, Verify, code, u.CreatedAt), l); err != nil {
		return User{}, err
	}
	a.sent(ctx, Verify, u.ID, u.CreatedAt)
	return u, nil
}

// destination is what codes are counted by: the address, hashed.
func destination(email string) string { return TokenHash(email)[:32] }

// code is what is kept of a code that is sent now.
func (a *Accounts) code(u User, p Purpose, code string, now time.Time) Code {
	return Code{
		Purpose: p, UserID: u.ID, Destination: destination(u.Email), Hash: codeHash(a.Keys.Code, p, u.Email, code),
		SentAt: now, ExpiresAt: now.Add(CodeLife),
	}
}

// letter writes mail that brings a code.
func (a *Accounts) letter(u User, template, code, locale string, now time.Time) (Letter, error) {
	sealed, err := Seal(a.Keys.Mail, mailUse, code)
	return Letter{
		To: u.Email, Template: template, Locale: locale, Expires: now.Add(CodeLife),
		Fields: map[string]string{FieldCode: sealed, FieldName: u.greeting()},
	}, err
}

// sent counts a code that was sent and notes it in Redis.
func (a *Accounts) sent(ctx context.Context, p Purpose, user int64, at time.Time) {
	a.Observer.code("sent")
	_ = a.Memory.KeepCode(ctx, p, user, at) // SQL has it
}
