package account

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"strconv"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/fault"
)

// Caller describes the client of a request.
type Caller struct {
	Address      string // client address, for the list of sessions
	Network      string // the client for rate limits: its address, or the /64 of IPv6
	Device       string // the client's User-Agent
	DeviceName   string // its browser and system, such as "Chrome, Android"; empty if unknown
	Locale       string // locale of e-mails to the user
	Request      string // request id, for the audit log
	DeviceCookie string // device cookie, see DeviceCookies
}

// Limiter applies rate limits, normally GCRA in Redis.
type Limiter interface {
	// Allow takes one request of a subject from a policy. When ok is false, retry is the time until the next is
	// allowed.
	Allow(ctx context.Context, policy, subject string) (retry time.Duration, ok bool)
	// Peek reports whether Allow would succeed, without counting a request. It serves limits that count failures only.
	Peek(ctx context.Context, policy, subject string) (retry time.Duration, ok bool)
}

// Rate-limit policies that this package uses.
const (
	LimitLoginAccountIP = "login_account_ip" // failed logins of an account from one client
	LimitLoginAccount   = "login_account"    // failed logins of an account from all clients
	LimitLoginIP        = "login_ip"         // failed logins from one client
	LimitLoginInstance  = "login_instance"   // all logins of this process
	LimitCodeIP         = "otp_verify_ip"
	LimitRegisterIP     = "register_ip"
	LimitProfile        = "profile_account" // changes of an account's profile that another account's value has refused
)

// Email is mail to be sent after the transaction that queues it has committed.
type Email struct {
	To       string
	Template string
	Locale   string
	Fields   map[string]string // values of the template; the code is encrypted, see DecryptFields
	Expires  time.Time         // not sent after this time
}

// E-mail templates, with their fields.
const (
	TemplateVerify       = "verify"        // code, name
	TemplateReset        = "reset"         // code, name
	TemplateWelcome      = "welcome"       // name
	TemplateEmailChange  = "email_change"  // code, name
	TemplateEmailChanged = "email_changed" // address, name
	TemplateNewDevice    = "new_device"    // device, name

	TemplatePasswordReset = "password_reset" // google, name, pin

	TemplateGoogleConnected    = "google_connected"    // name
	TemplateGoogleDisconnected = "google_disconnected" // name
)

// Fields of e-mail templates.
const (
	FieldCode = "code"
	FieldName = "name"

	FieldAddress = "address" // the new e-mail address, with most of it hidden
	FieldDevice  = "device"  // browser and system, such as "Chrome, Android"; may be empty
	FieldGoogle  = "google"  // not empty if Google was disconnected
	FieldPin     = "pin"     // not empty if a PIN was deleted
)

// With returns the e-mail with one more field.
func (l Email) With(field, value string) Email {
	l.Fields = maps.Clone(l.Fields)
	l.Fields[field] = value
	return l
}

const (
	mailPurpose = "comanda mail code"
	welcomeTTL  = 24 * time.Hour
)

// DecryptFields returns the fields of an e-mail with its code decrypted, for the sender.
func (k Keys) DecryptFields(fields map[string]string) (map[string]string, error) {
	decrypted := maps.Clone(fields)
	if encrypted, ok := fields[FieldCode]; ok {
		code, err := Decrypt(k.Mail, mailPurpose, encrypted)
		if err != nil {
			return nil, err
		}
		decrypted[FieldCode] = code
	}
	return decrypted, nil
}

// UserStore stores accounts, normally accountsql.
type UserStore interface {
	// Find returns the account with an e-mail address or a username. Empty values match no account.
	Find(ctx context.Context, email, username string) (u User, found bool, err error)
	// User returns an account, or ErrUser.
	User(ctx context.Context, id int64) (User, error)
	// Register creates an account of the role USER and queues its first code, or returns the error of the unique value
	// that is taken. A consent among the choices is recorded, with the language that was shown.
	Register(ctx context.Context, u User, c Code, l Email, choices MailChoices, locale string) (User, error)
	// UpdateProfile applies change to an account's profile, or returns the error of the unique value that is taken.
	UpdateProfile(ctx context.Context, id int64, now time.Time, change func(Profile) (Profile, error)) (User, error)
	// MailChoices returns an account's choices, the defaults if it has not chosen.
	MailChoices(ctx context.Context, id int64) (MailChoices, error)
	// SetMailChoices replaces them and returns what is stored. If news is nil, the consent stays as it is; every change of
	// it is recorded, with the language that was shown.
	SetMailChoices(
		ctx context.Context, id int64, c MailChoices, news *bool, locale string, now time.Time,
	) (MailChoices, error)
	// WithdrawNews withdraws the consent to news, if the account has given it.
	WithdrawNews(ctx context.Context, id int64, from ConsentSource, now time.Time) error
}

// Observer receives events that are counted as metrics. Nil functions are not called.
type Observer struct {
	Login  func(result string) // one of LoginResults
	Code   func(event string)  // one of CodeEvents
	Reused func()              // a spent refresh token was used again
}

// LoginResults returns the possible results of a login.
func LoginResults() []string { return []string{"ok", "failed", "closed", "unverified", "disabled"} }

// CodeEvents returns the possible events of a one-time code. "refused" also counts codes for unknown addresses: it
// rises when an attacker tries a few codes at each of many addresses.
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

// Service implements what users do with their own accounts. All fields but Limits, Incidents and Observer are
// required. It is safe for concurrent use.
type Service struct {
	Users         UserStore
	SessionStore  SessionStore
	Pins          PinStore
	Codes         CodeStore
	Hasher        *Hasher
	Tokens        TokenCodec
	Keys          Keys
	Authenticator *Authenticator
	Cache         SessionCache
	Devices       DeviceCookies    // trusts no device until it has a key
	Limits        Limiter          // nil disables rate limits
	Incidents     *audit.Incidents // nil records no incidents
	Now           func() time.Time
	Log           *slog.Logger
	Observer      Observer

	guessLocks keyedMutex // serialize password guesses by account name
}

// reserve takes one request of a subject from a policy, or returns the error that refuses it.
func (a *Service) reserve(ctx context.Context, policy, subject string) error {
	if a.Limits == nil {
		return nil
	}
	if retry, ok := a.Limits.Allow(ctx, policy, subject); !ok {
		return limitError(policy, retry)
	}
	return nil
}

// limitError returns the error for an exhausted limit. If this process is overloaded, the error is ErrBusy's and not
// "too many requests": the caller is not the cause, and clients handle both kinds of overload in the same way.
func limitError(policy string, retry time.Duration) error {
	if policy == LimitLoginInstance {
		return &fault.Error{Kind: fault.Unavailable, Code: ErrBusy.Code, Detail: ErrBusy.Detail, RetryAfter: retry}
	}
	return &fault.Error{
		Kind: fault.TooMany, Code: "rate_limited", Detail: "Too many attempts. Please wait a moment.", RetryAfter: retry,
	}
}

// limitKey names one counter: a policy and its subject.
type limitKey struct{ policy, subject string }

// checkLimits returns an error if one of the counters is exhausted. It counts nothing, because successful logins
// are free.
func (a *Service) checkLimits(ctx context.Context, shares ...limitKey) error {
	if a.Limits == nil {
		return nil
	}
	for _, s := range shares {
		if retry, ok := a.Limits.Peek(ctx, s.policy, s.subject); !ok {
			return limitError(s.policy, retry)
		}
	}
	return nil
}

// countFailure counts a failure in each counter.
func (a *Service) countFailure(ctx context.Context, shares ...limitKey) {
	if a.Limits == nil {
		return
	}
	for _, s := range shares {
		// The result does not matter here: the failure has happened, and the next checkLimits refuses.
		a.Limits.Allow(ctx, s.policy, s.subject)
	}
}

// Me returns the account of an actor.
func (a *Service) Me(ctx context.Context, actor authz.Actor) (User, error) {
	return a.Users.User(ctx, actor.UserID)
}

// ChangeMe changes the profile of an actor's own account. A refusal shows that another account has the value, so that
// refusals are limited: otherwise a member could try all phone numbers.
func (a *Service) ChangeMe(ctx context.Context, actor authz.Actor, c ProfileChanges) (User, error) {
	limited := limitKey{LimitProfile, decimal(actor.UserID)}
	if c.Username != nil || c.Phone != nil || c.DeviceID != nil {
		if err := a.checkLimits(ctx, limited); err != nil {
			return User{}, err
		}
	}
	u, err := a.Users.UpdateProfile(ctx, actor.UserID, a.Now(), c.Apply)
	if errors.Is(err, ErrTaken) || errors.Is(err, ErrUsernameTaken) || errors.Is(err, ErrPhoneTaken) {
		a.countFailure(ctx, limited)
	}
	return u, err
}

// Greeting returns the name that e-mails use. It may be empty; templates have a greeting without a name.
func (u User) Greeting() string {
	return cmp.Or(u.FirstName, u.Username)
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }
