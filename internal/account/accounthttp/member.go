package accounthttp

import (
	"context"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// RegisterMember registers the routes for users' own accounts. Cookies are sent over https only while secure returns
// true.
func RegisterMember(a *httpapi.API, accounts *account.Service, secure func() bool) {
	m := &memberRoutes{accounts, secure}
	m.registerPublic(a)
	m.registerUnsubscribe(a)
	m.registerOwn(a)
	m.registerPins(a)
}

// registerPublic registers the routes that need no login.
func (r *memberRoutes) registerPublic(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Public)
	httpapi.Register(ops, "register", "POST /auth/register",
		"Create an account and send the code that verifies its address", r.register, httpapi.Created)
	httpapi.RegisterOutput(ops, "login", "POST /auth/login", "Log in by e-mail address or username", r.login)
	httpapi.Register(ops, "refresh", "POST /auth/refresh",
		"Exchange a refresh token for a new pair of tokens", r.refresh)
	httpapi.RegisterOutput(ops, "logout", "POST /auth/logout",
		"Log out: end the session of the access token, or of a refresh token", r.logout)
	httpapi.Register(ops, "otp-request", "POST /auth/otp/request",
		"Send a one-time code by e-mail, if an account can use it", r.requestCode, httpapi.Accepted)
	httpapi.Register(ops, "otp-verify", "POST /auth/otp/verify",
		"Verify an e-mail address with the code sent to it", r.verifyCode)
	httpapi.RegisterOutput(ops, "password-reset", "POST /auth/password/reset",
		"Set a new password with a code and end every session", r.resetPassword)
}

// registerOwn registers the routes that need a login.
func (r *memberRoutes) registerOwn(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Member)
	httpapi.Register(ops, "me", "GET /me", "View your account", r.me)
	httpapi.Register(ops, "me-change", "PATCH /me", "Edit your profile", r.changeMe)
	httpapi.Register(ops, "me-mail", "GET /me/mail", "View which e-mails you get", r.mailChoices)
	httpapi.Register(ops, "me-mail-choose", "PUT /me/mail", "Choose which e-mails you get", r.chooseMail)
	httpapi.Register(ops, "me-sessions", "GET /me/sessions", "List the devices you are logged in on", r.sessions)
	httpapi.RegisterOutput(ops, "me-session-end", "DELETE /me/sessions/{id}", "Log out one of your devices", r.endSession)
	httpapi.Register(ops, "me-email", "POST /me/email", "Send a code to a new e-mail address", r.requestEmail, httpapi.Accepted)
	httpapi.Register(ops, "me-email-change", "POST /me/email/confirm",
		"Change your e-mail address with the code sent to it", r.changeEmail)
	httpapi.RegisterOutput(ops, "me-password", "POST /me/password",
		"Change your password and log out your other devices", r.changePassword)
}

// memberRoutes are the routes for users' own accounts.
type memberRoutes struct {
	accounts *account.Service
	secure   func() bool
}

type registerIn struct {
	CallerIn

	Body struct {
		Details

		Email    string           `json:"email" text:"line" minLength:"3" maxLength:"254"`
		Password telemetry.Secret `json:"password" minLength:"10" maxLength:"128" doc:"Used exactly as sent; not trimmed."`
		News     bool             `json:"news,omitempty" doc:"The consent to news and offers by e-mail, like that of PUT /me/mail."`
	}
}

func (r *memberRoutes) register(ctx context.Context, in *registerIn) (Account, error) {
	return accountResult(r.accounts.Register(ctx, account.Registration{
		Profile: in.Body.profile(in.Body.Email), Password: string(in.Body.Password), News: in.Body.News,
	}, in.caller))
}

type loginIn struct {
	CallerIn
	DeviceCookieIn

	Body struct {
		Email    string           `json:"email,omitempty" text:"line" maxLength:"254" doc:"Either this or username."`
		Username string           `json:"username,omitempty" text:"line" maxLength:"254"`
		Password telemetry.Secret `json:"password" minLength:"1" maxLength:"128"`
	}
}

// grant is the response of a login or a refresh.
type grant struct {
	AccessToken  string  `json:"accessToken" doc:"The bearer token of the other routes."`
	ExpiresIn    int64   `json:"expiresIn" doc:"Seconds until the access token expires."`
	RefreshToken string  `json:"refreshToken" doc:"Valid once, to get the next pair of tokens."`
	User         Account `json:"user"`
	NewAccount   bool    `json:"newAccount,omitempty" doc:"The login with Google has created the account. Ask for its choices of e-mails, see PUT /me/mail."`
}

// grantOf returns the response with new tokens. It is the only place where access and refresh tokens leave the process.
func grantOf(g account.IssuedTokens) grant {
	return grant{g.Access, int64(g.ExpiresIn.Seconds()), g.Refresh, accountOf(g.User), g.NewAccount}
}

type loginOut struct {
	DeviceCookieOut

	Body grant
}

func (r *memberRoutes) login(ctx context.Context, in *loginIn) (*loginOut, error) {
	// Few routes need the cookie, so CallerIn does not read it.
	in.caller.DeviceCookie = string(in.DeviceCookie)
	g, err := r.accounts.Login(ctx, account.Credentials{
		Email: in.Body.Email, Username: in.Body.Username, Password: string(in.Body.Password),
	}, in.caller)
	if err != nil {
		return nil, err
	}
	return &loginOut{r.setDeviceCookie(g.DeviceCookie), grantOf(g)}, nil
}

type refreshIn struct {
	Body struct {
		RefreshToken telemetry.Secret `json:"refreshToken" maxLength:"128"`
	}
}

func (r *memberRoutes) refresh(ctx context.Context, in *refreshIn) (grant, error) {
	g, err := r.accounts.Refresh(ctx, string(in.Body.RefreshToken))
	return grantOf(g), err
}

type logoutIn struct {
	Authorization telemetry.Secret `header:"Authorization" doc:"The access token, as a bearer token."`
	Body          *struct {
		RefreshToken telemetry.Secret `json:"refreshToken,omitempty" maxLength:"128" doc:"Used if there is no access token or it is invalid. An expired access token is enough."`
	}
}

// logout is public: a client whose access token has expired must still be able to end its session.
func (r *memberRoutes) logout(ctx context.Context, in *logoutIn) (*struct{}, error) {
	var access, refresh string
	if scheme, token, _ := strings.Cut(string(in.Authorization), " "); strings.EqualFold(scheme, "Bearer") {
		access = token
	}
	if in.Body != nil {
		refresh = string(in.Body.RefreshToken)
	}
	return nil, r.accounts.Logout(ctx, access, refresh)
}

type codeIn struct {
	CallerIn

	Body struct {
		Purpose string `json:"purpose" enum:"VERIFY,RESET"`
		Email   string `json:"email" text:"line" maxLength:"254"`
	}
}

type sent struct {
	ExpiresIn int64 `json:"expiresIn" doc:"Seconds until a code expires, if one was sent."`
}

func (r *memberRoutes) requestCode(ctx context.Context, in *codeIn) (sent, error) {
	err := r.accounts.RequestCode(ctx, account.Purpose(in.Body.Purpose), in.Body.Email, in.caller)
	return sent{int64(account.CodeTTL.Seconds())}, err
}

type verifyIn struct {
	CallerIn

	Body struct {
		Purpose string           `json:"purpose" enum:"VERIFY" doc:"Send codes for a new password to /auth/password/reset instead."`
		Email   string           `json:"email" text:"line" maxLength:"254"`
		Code    telemetry.Secret `json:"code" maxLength:"16"`
	}
}

type verified struct {
	Verified bool `json:"verified"`
}

func (r *memberRoutes) verifyCode(ctx context.Context, in *verifyIn) (verified, error) {
	return verified{true}, r.accounts.VerifyEmail(ctx, in.Body.Email, string(in.Body.Code), in.caller)
}

type resetIn struct {
	CallerIn

	Body struct {
		Email    string           `json:"email" text:"line" maxLength:"254"`
		Code     telemetry.Secret `json:"code" maxLength:"16"`
		Password telemetry.Secret `json:"password" minLength:"10" maxLength:"128"`
	}
}

func (r *memberRoutes) resetPassword(ctx context.Context, in *resetIn) (*struct{}, error) {
	return nil, r.accounts.ResetPassword(ctx, in.Body.Email, string(in.Body.Code), string(in.Body.Password), in.caller)
}

func (r *memberRoutes) me(ctx context.Context, _ *struct{}) (Account, error) {
	return accountResult(r.accounts.Me(ctx, authz.ActorOf(ctx)))
}

type changeIn struct{ Body changes }

func (r *memberRoutes) changeMe(ctx context.Context, in *changeIn) (Account, error) {
	return accountResult(r.accounts.ChangeMe(ctx, authz.ActorOf(ctx), in.Body.changes()))
}

type session struct {
	ID         string    `json:"id"`
	Device     string    `json:"device"`
	Address    string    `json:"address"`
	Current    bool      `json:"current" doc:"Whether this is the session of the request."`
	CreatedAt  time.Time `json:"createdAt"`
	LastSeenAt time.Time `json:"lastSeenAt" doc:"Updated with a delay of a few seconds."`
	ExpiresAt  time.Time `json:"expiresAt"`
}

// sessions returns all sessions in one page: an account has at most account.MaxSessions.
func (r *memberRoutes) sessions(ctx context.Context, _ *struct{}) (httpapi.List[session], error) {
	actor := authz.ActorOf(ctx)
	all, err := r.accounts.Sessions(ctx, actor)
	return httpapi.ListOf(all, len(all), func(s account.Session) session {
		return session{s.ID, s.Device, s.Address, s.ID == actor.Session, s.CreatedAt, s.LastSeenAt, s.ExpiresAt}
	}), err
}

func (r *memberRoutes) endSession(ctx context.Context, in *httpapi.ByText) (*struct{}, error) {
	return nil, r.accounts.EndSession(ctx, authz.ActorOf(ctx), in.ID)
}

type emailIn struct {
	CallerIn

	Body struct {
		CurrentPassword telemetry.Secret `json:"currentPassword" minLength:"1" maxLength:"128"`
		Email           string           `json:"email" text:"line" maxLength:"254" doc:"The new address. The response is the same if another account has it, and no code is sent then."`
	}
}

func (r *memberRoutes) requestEmail(ctx context.Context, in *emailIn) (sent, error) {
	err := r.accounts.RequestEmail(ctx, authz.ActorOf(ctx), string(in.Body.CurrentPassword), in.Body.Email, in.caller)
	return sent{int64(account.CodeTTL.Seconds())}, err
}

type emailConfirmIn struct {
	CallerIn

	Body struct {
		Email string           `json:"email" text:"line" maxLength:"254" doc:"The new address."`
		Code  telemetry.Secret `json:"code" maxLength:"16"`
	}
}

func (r *memberRoutes) changeEmail(ctx context.Context, in *emailConfirmIn) (Account, error) {
	return accountResult(r.accounts.ChangeEmail(ctx, authz.ActorOf(ctx), in.Body.Email, string(in.Body.Code), in.caller))
}

type passwordIn struct {
	DeviceCookieIn

	Body struct {
		CurrentPassword telemetry.Secret `json:"currentPassword" minLength:"1" maxLength:"128"`
		NewPassword     telemetry.Secret `json:"newPassword" minLength:"10" maxLength:"128"`
	}
}

type passwordOut struct{ DeviceCookieOut }

func (r *memberRoutes) changePassword(ctx context.Context, in *passwordIn) (*passwordOut, error) {
	cookie, err := r.accounts.ChangePassword(ctx, authz.ActorOf(ctx),
		string(in.Body.CurrentPassword), string(in.Body.NewPassword), string(in.DeviceCookie))
	if err != nil {
		return nil, err
	}
	return &passwordOut{r.setDeviceCookie(cookie)}, nil
}
