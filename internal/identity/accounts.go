package identity

import (
	"context"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"comanda/internal/fault"
)

// Caller is where a request comes from.
type Caller struct {
	Address string // of the client, for the list of sessions
	Network string // what limits count as one client: the address, of IPv6 its /64
	Device  string // what the client calls itself
	Locale  string // in which to write to its owner
	Request string // id of the request, for the audit log
	Marks   string // of the device, see Devices
}

// Limiter bounds how often something is done, normally by GCRA in Redis.
type Limiter interface {
	// Take takes one of what a policy grants a subject; when there is none, retry tells when there will be.
	Take(ctx context.Context, policy, subject string) (retry time.Duration, ok bool)
	// Look tells whether Take would grant, and takes nothing: for what is counted only when it fails.
	Look(ctx context.Context, policy, subject string) (retry time.Duration, ok bool)
}

// The policies that are asked for.
const (
	LimitLoginAccountIP = "login_account_ip" // failed logins of an account from one client
	LimitLoginAccount   = "login_account"    // failed logins of an account
	LimitLoginIP        = "login_ip"         // failed logins from one client
	LimitLoginInstance  = "login_instance"   // all logins of this process
	LimitCodeIP         = "otp_verify_ip"
	LimitRegisterIP     = "register_ip"
)

// Letter is mail to be sent once the transaction that writes it has been committed.
type Letter struct {
	To       string
	Template string
	Locale   string
	Fields   map[string]string // what the template says; the code among them is sealed, see OpenFields
	Expires  time.Time         // not worth sending afterwards
}

// The templates of letters.
const (
	LetterVerify  = "verify"  // code, name
	LetterReset   = "reset"   // code, name
	LetterWelcome = "welcome" // name
)

// Fields of letters.
const (
	FieldCode = "code"
	FieldName = "name"
)

const (
	mailUse     = "comanda mail code"
	welcomeLife = 24 * time.Hour
)

// OpenFields gives the fields of a letter with its code opened, for whoever sends it.
func (k Keys) OpenFields(fields map[string]string) (map[string]string, error) {
	open := maps.Clone(fields)
	if sealed, ok := fields[FieldCode]; ok {
		code, err := Open(k.Mail, mailUse, sealed)
		if err != nil {
			return nil, err
		}
		open[FieldCode] = code
	}
	return open, nil
}

// Registry keeps accounts, normally identitysql.
type Registry interface {
	// Find gives the account with an e-mail address or a username; empty ones are nobody's.
	Find(ctx context.Context, email, username string) (u User, found bool, err error)
	// User gives an account, or ErrUser.
	User(ctx context.Context, id int64) (User, error)
	// Register makes an account of the role USER with its first code and the letter that brings it, or tells which of
	// its unique values is taken.
	Register(ctx context.Context, u User, c Code, l Letter) (User, error)
	// Change writes what change makes of an account's profile, or tells which of its unique values is taken.
	Change(ctx context.Context, id int64, now time.Time, change func(Profile) (Profile, error)) (User, error)
}

// Observer hears what is counted. Nil functions are not called.
type Observer struct {
	Login  func(result string) // one of LoginResults
	Code   func(event string)  // one of CodeEvents
	Reused func()              // a refresh token came a second time
}

// LoginResults is what may become of a login.
func LoginResults() []string { return []string{"ok", "failed", "closed", "unverified", "disabled"} }

// CodeEvents is what may be done with a code. Those that were refused, for whatever address, are what somebody raises
// who guesses a few times at each of many addresses.
func CodeEvents() []string { return []string{"sent", "compared", "accepted", "refused"} }

func (o Observer) login(result string) {
	if o.Login != nil {
		o.Login(result)
	}
}

func (o Observer) code(event string) {
	if o.Code != nil {
		o.Code(event)
	}
}

func (o Observer) reused() {
	if o.Reused != nil {
		o.Reused()
	}
}

// Accounts is what people do with their own accounts. All fields but Limits and Observer are needed.
type Accounts struct {
	Registry  Registry
	Logins    Logins
	Pins      Pins
	Codes     CodeBook
	Hasher    *Hasher
	Tokens    Tokens
	Keys      Keys
	Guard     *Guard
	Memory    Memory
	Devices   Devices    // knows no device until it has a key
	Limits    Limiter    // nil limits nothing
	Incidents *Incidents // nil collects nothing
	Now       func() time.Time
	Log       *slog.Logger
	Observer  Observer

	guesses turns // at passwords, by the name that was given
}

// allow takes one of what a policy grants, or refuses.
func (a *Accounts) allow(ctx context.Context, policy, subject string) error {
	if a.Limits == nil {
		return nil
	}
	if retry, ok := a.Limits.Take(ctx, policy, subject); !ok {
		return tooOften(policy, retry)
	}
	return nil
}

// tooOften refuses. A process that has more to do than it can is not the caller's fault.
func tooOften(policy string, retry time.Duration) error {
	if policy == LimitLoginInstance {
		return &fault.Error{Kind: fault.Unavailable, Code: ErrBusy.Code, Detail: ErrBusy.Detail, RetryAfter: retry}
	}
	return &fault.Error{
		Kind: fault.TooMany, Code: "rate_limited", Detail: "That was too often; wait a little.", RetryAfter: retry,
	}
}

// share is what a policy grants one subject.
type share struct{ policy, subject string }

// permitted refuses when too much has failed. It takes nothing: who gets it right is not counted.
func (a *Accounts) permitted(ctx context.Context, shares ...share) error {
	if a.Limits == nil {
		return nil
	}
	for _, s := range shares {
		if retry, ok := a.Limits.Look(ctx, s.policy, s.subject); !ok {
			return tooOften(s.policy, retry)
		}
	}
	return nil
}

// charge counts a failure.
func (a *Accounts) charge(ctx context.Context, shares ...share) {
	if a.Limits == nil {
		return
	}
	for _, s := range shares {
		a.Limits.Take(ctx, s.policy, s.subject)
	}
}

// Me gives the account of an actor.
func (a *Accounts) Me(ctx context.Context, who Actor) (User, error) {
	return a.Registry.User(ctx, who.UserID)
}

// ChangeMe changes what an actor says about themselves.
func (a *Accounts) ChangeMe(ctx context.Context, who Actor, c Changes) (User, error) {
	return a.Registry.Change(ctx, who.UserID, a.Now(), c.Apply)
}

// greeting is what letters call somebody; the template finds words for nobody in particular.
func (u User) greeting() string {
	if u.FirstName != "" {
		return u.FirstName
	}
	return u.Username
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func parseDecimal(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil
}
