package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// GoogleFlowTTL is how long a sign-in may take at Google.
const GoogleFlowTTL = 10 * time.Minute

// LimitGoogleIP is the rate-limit policy of sign-ins with Google from one client.
const LimitGoogleIP = "google_ip"

// GoogleIdentity has the claims about a person from a verified ID token of Google.
type GoogleIdentity struct {
	Subject   string // never changes, and never belongs to another person
	Email     string
	Verified  bool // Google has verified the address
	Hosted    bool // the address belongs to an organization at Google
	FirstName string
	Surname   string
}

// authoritative reports whether Google manages the mailbox. It has verified other addresses once, but they may belong to
// another person by now.
func (g GoogleIdentity) authoritative() bool {
	return g.Verified && (g.Hosted || strings.HasSuffix(g.Email, "@gmail.com") || strings.HasSuffix(g.Email, "@googlemail.com"))
}

// GoogleFlow is one sign-in between its start and its end. The browser keeps it, encrypted, in a cookie, so that no other
// browser can end it.
type GoogleFlow struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`           // of PKCE
	Link     int64     `json:"l,omitempty"` // account to connect; 0 to log in
	Proof    string    `json:"p,omitempty"` // fingerprint of the password that was verified to connect it
	Expires  time.Time `json:"e"`
}

// GoogleProvider talks to Google, normally accountoidc. Both methods return ErrGoogleUnavailable if it cannot be reached,
// within five seconds.
type GoogleProvider interface {
	// AuthURL returns the page at which the person agrees.
	AuthURL(ctx context.Context, f GoogleFlow) (string, error)
	// Exchange returns the identity of a code. It returns ErrGoogleRefused for a code or an ID token that is not valid.
	Exchange(ctx context.Context, f GoogleFlow, code string) (GoogleIdentity, error)
}

// GoogleStore stores which account belongs to whom at Google, normally accountsql.
type GoogleStore interface {
	// FindGoogle returns the account of a subject.
	FindGoogle(ctx context.Context, subject string) (u User, found bool, err error)
	// CreateGoogle creates an active account and queues an e-mail. It returns ErrEmailTaken or ErrGoogleTaken.
	CreateGoogle(ctx context.Context, u User, l Email) (User, error)
	// LinkGoogle connects an account to Google, or returns ErrGoogleTaken if the account differs from was by now. A
	// pending account becomes active and loses its password. It writes the audit log and queues the e-mail.
	LinkGoogle(ctx context.Context, was User, l GoogleLink) (User, error)
	// UnlinkGoogle disconnects the actor's account, or returns ErrGoogleOnly if it has no password. It writes the audit log
	// and queues the e-mail, unless the account is not connected.
	UnlinkGoogle(ctx context.Context, by authz.Actor, now time.Time, notice Email) (User, error)
}

// GoogleLink is a connection to be stored.
type GoogleLink struct {
	Subject string
	By      authz.Actor
	Now     time.Time
	Notice  Email // to the person; not sent without an address
}

// Errors of signing in with Google.
var (
	ErrGoogleOff         = fault.New(fault.NotFound, "google_off", "This restaurant does not offer sign-in with Google.")
	ErrGoogleUnavailable = fault.New(fault.Unavailable, "google_unavailable",
		"Google cannot be reached. Log in with your password.")
	ErrGoogleState   = fault.New(fault.Invalid, "google_flow_invalid", "This sign-in has expired. Please start again.")
	ErrGoogleRefused = fault.New(fault.Unauthenticated, "google_refused",
		"Google did not confirm the sign-in. Please try again.")
	ErrGoogleEmail = fault.New(fault.Forbidden, "google_email_unverified",
		"Your Google account has no verified e-mail address.")
	ErrGoogleLink = fault.New(fault.Conflict, "google_link_needed",
		"There is already an account with this e-mail address. Log in with its password and connect Google in your account.")
	ErrGoogleStaff = fault.New(fault.Forbidden, "google_staff", "Staff accounts log in with their password.")
	ErrGoogleTaken = fault.New(fault.Conflict, "google_taken", "This Google account belongs to another account here.")
	ErrGoogleOnly  = fault.New(fault.Conflict, "google_only_login",
		"Set a password first. Without Google you could not log in any more.")
)

// Google signs members in by OpenID Connect. An account of the same address is only connected by a safe rule:
//
//   - an account whose address is verified, if Google manages the mailbox; otherwise its owner logs in with the password
//     and connects it in the account
//   - a registration that was not finished, which loses its password: a stranger may have typed it
//   - never a staff account, and no disabled one
type Google struct {
	Provider GoogleProvider // nil: off
	Store    GoogleStore
	Accounts *Service
}

// googleFlowUse separates the key of flows from those for other uses, so that no other ciphertext is accepted as a flow.
const googleFlowUse = "comanda google flow"

// Start begins a login and returns the page at Google, and the flow for the browser to keep.
func (g *Google) Start(ctx context.Context, c Caller) (url, flow string, err error) {
	return g.start(ctx, c, User{})
}

// StartLink begins to connect the actor's account. It needs the password: a stranger at an unlocked phone must not connect
// an account of their own.
func (g *Google) StartLink(ctx context.Context, actor authz.Actor, password string, c Caller) (url, flow string, err error) {
	if g.Provider == nil {
		return "", "", ErrGoogleOff
	}
	if authz.IsStaff(actor.Role) {
		return "", "", ErrGoogleStaff
	}
	u, _, err := g.Accounts.verifyCurrentPassword(ctx, actor, password)
	if err != nil {
		return "", "", err
	}
	return g.start(ctx, c, u)
}

// start returns Google's page and the encrypted flow. The browser stores the flow, so any process can finish the login. link
// is the account to connect, or the zero User for a login.
func (g *Google) start(ctx context.Context, c Caller, link User) (url, flow string, err error) {
	if g.Provider == nil {
		return "", "", ErrGoogleOff
	}
	if err := g.Accounts.reserve(ctx, LimitGoogleIP, c.Network); err != nil {
		return "", "", err
	}
	f := GoogleFlow{
		State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Link: link.ID,
		Expires: g.Accounts.Now().Add(GoogleFlowTTL),
	}
	if link.ID != 0 {
		f.State += linkSuffix
		f.Proof = g.passwordFingerprint(link)
	}
	if url, err = g.Provider.AuthURL(ctx, f); err != nil {
		return "", "", err
	}
	text, err := json.Marshal(f)
	if err != nil {
		return "", "", err
	}
	flow, err = Encrypt(g.key(), googleFlowUse, string(text))
	return url, flow, err
}

// linkSuffix ends the state of a flow that connects an account, so that the page knows which route ends it.
const linkSuffix = ".link"

func (g *Google) key() Key { return g.Accounts.Keys.Mail.Derive(googleFlowUse) }

// passwordFingerprint identifies the current password of an account. A flow with another one began before the password was
// replaced, perhaps by a person with the old one.
func (g *Google) passwordFingerprint(u User) string {
	return fingerprint(g.key(), "password", u.PasswordHash, fingerprintBytes)
}

// flow returns the flow that a browser has kept, if it belongs to a state and to an account.
func (g *Google) flow(kept, state string, link int64) (f GoogleFlow, err error) {
	text, err := Decrypt(g.key(), googleFlowUse, kept)
	if err != nil || json.Unmarshal([]byte(text), &f) != nil {
		return f, ErrGoogleState
	}
	if subtle.ConstantTimeCompare([]byte(f.State), []byte(state)) != 1 || f.Link != link ||
		!g.Accounts.Now().Before(f.Expires) {
		return f, ErrGoogleState
	}
	return f, nil
}

// identity ends a flow at Google. It also returns the flow.
func (g *Google) identity(
	ctx context.Context, kept, state, code string, link int64, c Caller,
) (id GoogleIdentity, f GoogleFlow, err error) {
	if g.Provider == nil {
		return id, f, ErrGoogleOff
	}
	if err := g.Accounts.reserve(ctx, LimitGoogleIP, c.Network); err != nil {
		return id, f, err
	}
	if f, err = g.flow(kept, state, link); err != nil {
		return id, f, err
	}
	if id, err = g.Provider.Exchange(ctx, f, code); err != nil {
		return id, f, err
	}
	if email, ok := NormalizeEmail(id.Email); ok {
		id.Email = email
	} else {
		id.Email, id.Verified = "", false
	}
	return id, f, nil
}

// Finish ends a login with the code of Google. The session is that of a login by password.
func (g *Google) Finish(ctx context.Context, kept, state, code string, c Caller) (IssuedTokens, error) {
	id, _, err := g.identity(ctx, kept, state, code, 0, c)
	if err != nil {
		return IssuedTokens{}, err
	}
	u, created, err := g.account(ctx, id, c)
	if errors.Is(err, ErrEmailTaken) || errors.Is(err, ErrGoogleTaken) {
		// A request at the same time has created or connected the account.
		u, created, err = g.account(ctx, id, c)
	}
	if err != nil {
		return IssuedTokens{}, err
	}
	a := g.Accounts
	p := LoginProof{Hash: u.PasswordHash, NewHash: u.PasswordHash, GoogleID: id.Subject, NewDevice: a.newDeviceEmail(u, c)}
	p.DeviceID = a.Devices.device(c.DeviceCookie, a.Now())
	tokens, err := a.beginSession(ctx, u, p, c, time.Time{})
	if err == nil {
		tokens.NewAccount = created
		tokens.DeviceCookie = a.Devices.add(c.DeviceCookie, p.DeviceID, u.ID, u.PasswordHash, a.Now())
	}
	return tokens, err
}

// account returns the account of a person at Google: the connected one, the one of the address, or a new one, which it
// creates.
func (g *Google) account(ctx context.Context, id GoogleIdentity, c Caller) (u User, created bool, err error) {
	u, found, err := g.Store.FindGoogle(ctx, id.Subject)
	if err != nil {
		return u, false, err
	}
	if found {
		return u, false, mayUseGoogle(u)
	}
	if !id.Verified {
		return u, false, ErrGoogleEmail
	}
	if u, found, err = g.Accounts.Users.Find(ctx, id.Email, ""); err != nil {
		return u, false, err
	}
	if found {
		if err := mayUseGoogle(u); err != nil || u.GoogleID == id.Subject { // connected since FindGoogle
			return u, false, err
		}
		if u.Status == Active && (!u.Registered || !id.authoritative()) || u.GoogleID != "" {
			return u, false, ErrGoogleLink
		}
		by := u.Actor("")
		by.Request, by.Address = c.Request, c.Address
		u, err = g.link(ctx, u, id.Subject, by, c)
		return u, false, err
	}
	u, err = g.create(ctx, id, c)
	return u, err == nil, err
}

// create creates the account of a person at Google.
func (g *Google) create(ctx context.Context, id GoogleIdentity, c Caller) (User, error) {
	if err := g.Accounts.reserve(ctx, LimitRegisterIP, c.Network); err != nil {
		return User{}, err
	}
	now := g.Accounts.Now()
	p, err := Profile{Email: id.Email, FirstName: id.FirstName, Surname: id.Surname}.Normalized()
	if err != nil { // a name of a kind that profiles do not have
		p = Profile{Email: id.Email}
	}
	u := User{
		Profile: p, Role: authz.RoleUser, Status: Active, Registered: true, GoogleID: id.Subject, CreatedAt: now,
		CreatedBy: "google",
	}
	return g.Store.CreateGoogle(ctx, u, Email{
		To: u.Email, Template: TemplateWelcome, Locale: c.Locale, Expires: now.Add(welcomeTTL),
		Fields: map[string]string{FieldName: u.Greeting()},
	})
}

// link connects an account and notifies its person.
func (g *Google) link(ctx context.Context, u User, subject string, by authz.Actor, c Caller) (User, error) {
	now := g.Accounts.Now()
	return g.Store.LinkGoogle(ctx, u, GoogleLink{
		Subject: subject, By: by, Now: now, Notice: u.notice(TemplateGoogleConnected, c.Locale, now),
	})
}

// mayUseGoogle returns the reason why an account cannot be used with Google.
func mayUseGoogle(u User) error {
	switch {
	case authz.IsStaff(u.Role):
		return ErrGoogleStaff
	case u.Status == Disabled:
		return ErrDisabled
	}
	return nil
}

// FinishLink connects the actor's account, which StartLink has begun with the password. It refuses if the password was
// replaced in between.
func (g *Google) FinishLink(ctx context.Context, actor authz.Actor, kept, state, code string, c Caller) (User, error) {
	id, f, err := g.identity(ctx, kept, state, code, actor.UserID, c)
	if err != nil {
		return User{}, err
	}
	u, err := g.Accounts.Users.User(ctx, actor.UserID)
	if err != nil {
		return u, err
	}
	if err := mayUseGoogle(u); err != nil {
		return u, err
	}
	if f.Proof != g.passwordFingerprint(u) {
		return u, ErrGoogleState
	}
	if u.GoogleID == id.Subject {
		return u, nil
	}
	return g.link(ctx, u, id.Subject, actor, c)
}

// Unlink disconnects the actor's account. It needs the password, with which the account is used from then on.
func (g *Google) Unlink(ctx context.Context, actor authz.Actor, password string, c Caller) (User, error) {
	u, err := g.Accounts.Users.User(ctx, actor.UserID)
	switch {
	case err != nil:
		return u, err
	case u.GoogleID == "":
		return u, nil
	case u.PasswordHash == "":
		return u, ErrGoogleOnly
	}
	if _, _, err := g.Accounts.verifyCurrentPassword(ctx, actor, password); err != nil {
		return u, err
	}
	now := g.Accounts.Now()
	return g.Store.UnlinkGoogle(ctx, actor, now, u.notice(TemplateGoogleDisconnected, c.Locale, now))
}
