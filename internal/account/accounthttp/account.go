// Package accounthttp has the routes for registration, login, own accounts and the administration of accounts.
package accounthttp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
)

// Account is a user as the owner and the staff see it. It never contains the password or tokens.
type Account struct {
	ID            string          `json:"id"`
	Username      *string         `json:"username"`
	Email         *string         `json:"email"`
	Phone         *string         `json:"phone"`
	Address       *string         `json:"address"`
	Gender        *string         `json:"gender" enum:"MALE,FEMALE,OTHER"`
	FirstName     *string         `json:"firstName"`
	Surname       *string         `json:"surname"`
	Age           *int            `json:"age"`
	Occupation    *string         `json:"occupation"`
	Province      *string         `json:"province"`
	City          *string         `json:"city"`
	DeviceID      *string         `json:"deviceId"`
	GoogleID      *string         `json:"googleId"`
	Geolocation   *string         `json:"geolocation" doc:"latitude,longitude in degrees."`
	Profile       json.RawMessage `json:"profile" doc:"A JSON object that the client defines."`
	AccountStatus string          `json:"accountStatus" enum:"PENDING,ACTIVE,DISABLED"`
	TrustScore    int             `json:"trustScore" doc:"0 to 100; falls with each flag."`
	FraudFlags    []string        `json:"fraudFlags" enum:"EXPIRED_ORDER,NO_SHOW,CHARGEBACK" doc:"The kinds of flags that count, each once."`
	Registered    bool            `json:"registered" doc:"The e-mail address is verified."`
	RoleID        string          `json:"roleId"`
	Role          string          `json:"role"`
	BranchIDs     []string        `json:"branchIds" doc:"The branches of a staff account."`
	LastLogin     *time.Time      `json:"lastLogin" doc:"Null before the first login. It does not change the version."`
	CreatedAt     time.Time       `json:"createdAt"`
	UpdatedAt     time.Time       `json:"updatedAt"`
	CreatedBy     *string         `json:"createdBy"`
	UpdatedBy     *string         `json:"updatedBy"`
	Version       int64           `json:"version"`
}

// accountOf returns an account as the API shows it.
func accountOf(u account.User) Account {
	a := Account{
		ID: httpapi.FormatID(u.ID), Username: httpapi.OrNull(u.Username), Email: httpapi.OrNull(u.Email),
		Phone: httpapi.OrNull(u.Phone), Address: httpapi.OrNull(u.Address), Gender: httpapi.OrNull(u.Gender),
		FirstName: httpapi.OrNull(u.FirstName), Surname: httpapi.OrNull(u.Surname), Age: u.Age,
		Occupation: httpapi.OrNull(u.Occupation), Province: httpapi.OrNull(u.Province), City: httpapi.OrNull(u.City),
		DeviceID: httpapi.OrNull(u.DeviceID), GoogleID: httpapi.OrNull(u.GoogleID),
		Geolocation: httpapi.OrNull(u.Geolocation), Profile: u.Extra, AccountStatus: string(u.Status),
		TrustScore: u.TrustScore, FraudFlags: seq.Map(u.Flags, func(k account.FlagKind) string { return string(k) }),
		Registered: u.Registered, RoleID: httpapi.FormatID(u.RoleID), Role: u.Role,
		BranchIDs: seq.Map(u.Branches, httpapi.FormatID),
		LastLogin: httpapi.TimeOrNull(u.LastLogin), CreatedAt: u.CreatedAt, UpdatedAt: u.UpdatedAt,
		CreatedBy: httpapi.OrNull(u.CreatedBy), UpdatedBy: httpapi.OrNull(u.UpdatedBy), Version: u.Version,
	}
	// Never null in JSON, so that clients need no check.
	if a.Profile == nil {
		a.Profile = json.RawMessage("{}")
	}
	return a
}

// Details are the profile fields of a request. Package account validates them. The type is exported because huma only
// reads exported parts of a body.
type Details struct {
	Username    string          `json:"username,omitempty" text:"line" maxLength:"64"`
	Phone       string          `json:"phone,omitempty" text:"line" maxLength:"32" doc:"E.164, or the digits of a national number."`
	DeviceID    string          `json:"deviceId,omitempty" text:"line" maxLength:"128"`
	Address     string          `json:"address,omitempty" text:"line" maxLength:"300"`
	Gender      string          `json:"gender,omitempty" enum:"MALE,FEMALE,OTHER"`
	FirstName   string          `json:"firstName,omitempty" text:"line" maxLength:"100"`
	Surname     string          `json:"surname,omitempty" text:"line" maxLength:"100"`
	Age         *int            `json:"age,omitempty" minimum:"0" maximum:"150"`
	Occupation  string          `json:"occupation,omitempty" text:"line" maxLength:"100"`
	Province    string          `json:"province,omitempty" text:"line" maxLength:"100"`
	City        string          `json:"city,omitempty" text:"line" maxLength:"100"`
	Geolocation string          `json:"geolocation,omitempty" text:"line" maxLength:"64" doc:"latitude,longitude in degrees."`
	Profile     json.RawMessage `json:"profile,omitempty" text:"exact" doc:"A JSON object that the client defines, at most 8 KB."`
}

// profile returns the profile of a new account. The e-mail address is separate, because a request that changes
// Details cannot change it.
func (d Details) profile(email string) account.Profile {
	return account.Profile{
		Username: d.Username, Email: email, Phone: d.Phone, DeviceID: d.DeviceID, Address: d.Address, Gender: d.Gender,
		FirstName: d.FirstName, Surname: d.Surname, Age: d.Age, Occupation: d.Occupation, Province: d.Province, City: d.City,
		Geolocation: d.Geolocation, Extra: d.Profile,
	}
}

// changes is a partial update of Details. An empty text clears a field.
type changes struct {
	Username    *string         `json:"username,omitempty" text:"line" maxLength:"64"`
	Phone       *string         `json:"phone,omitempty" text:"line" maxLength:"32"`
	DeviceID    *string         `json:"deviceId,omitempty" text:"line" maxLength:"128"`
	Address     *string         `json:"address,omitempty" text:"line" maxLength:"300"`
	Gender      *string         `json:"gender,omitempty" text:"exact" maxLength:"10" doc:"MALE, FEMALE, OTHER, or empty to remove it."`
	FirstName   *string         `json:"firstName,omitempty" text:"line" maxLength:"100"`
	Surname     *string         `json:"surname,omitempty" text:"line" maxLength:"100"`
	Age         *int            `json:"age,omitempty" minimum:"0" maximum:"150"`
	Occupation  *string         `json:"occupation,omitempty" text:"line" maxLength:"100"`
	Province    *string         `json:"province,omitempty" text:"line" maxLength:"100"`
	City        *string         `json:"city,omitempty" text:"line" maxLength:"100"`
	Geolocation *string         `json:"geolocation,omitempty" text:"line" maxLength:"64"`
	Profile     json.RawMessage `json:"profile,omitempty" text:"exact" doc:"Replaces the whole object."`
}

// changes converts the request; nil fields are those that the request leaves out.
func (c changes) changes() account.ProfileChanges {
	return account.ProfileChanges{
		Username: c.Username, Phone: c.Phone, DeviceID: c.DeviceID, Address: c.Address, Gender: c.Gender,
		FirstName: c.FirstName, Surname: c.Surname, Age: c.Age, Occupation: c.Occupation, Province: c.Province,
		City: c.City, Geolocation: c.Geolocation, Extra: c.Profile,
	}
}

// mailChoices are an account's choices about its e-mails, in requests and responses.
type mailChoices struct {
	Locale        string `json:"locale,omitempty" enum:"en,vi,zh-TW" doc:"Language of e-mails about orders and of news. If omitted, the language of the restaurant."`
	OrderReceived bool   `json:"orderReceived" doc:"An e-mail when an order was received."`
	OrderReady    bool   `json:"orderReady" doc:"An e-mail when an order is ready."`
	News          *bool  `json:"news,omitempty" doc:"The consent to news and offers. If omitted, it stays as it is."`
}

func mailChoicesOf(c account.MailChoices) mailChoices {
	return mailChoices{Locale: c.Locale, OrderReceived: c.OrderReceived, OrderReady: c.OrderReady, News: &c.News}
}

func (r *memberRoutes) mailChoices(ctx context.Context, _ *struct{}) (mailChoices, error) {
	c, err := r.accounts.MailChoices(ctx, authz.ActorOf(ctx))
	return mailChoicesOf(c), err
}

type mailChoicesIn struct {
	CallerIn

	Body mailChoices
}

func (r *memberRoutes) chooseMail(ctx context.Context, in *mailChoicesIn) (mailChoices, error) {
	c, err := r.accounts.ChooseMail(ctx, authz.ActorOf(ctx), account.MailChoices{
		Locale: in.Body.Locale, OrderReceived: in.Body.OrderReceived, OrderReady: in.Body.OrderReady,
	}, in.Body.News, in.caller.Locale)
	return mailChoicesOf(c), err
}

// UnsubscribePath is the route that e-mails name in List-Unsubscribe, before the token. UnsubscribePage is the page of the
// guest app, before the token, which asks before it unsubscribes.
const (
	UnsubscribePath = "/auth/unsubscribe/"
	UnsubscribePage = "/shop/unsubscribe#"
)

// registerUnsubscribe registers the routes of links in e-mails, which work without a login.
func (r *memberRoutes) registerUnsubscribe(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Public)
	httpapi.RegisterOutput(ops, "unsubscribe", "POST /auth/unsubscribe/{token}",
		"Withdraw the consent to news with the link of an e-mail", r.unsubscribe)
	httpapi.RegisterOutput(ops, "unsubscribe-page", "GET /auth/unsubscribe/{token}",
		"Open the page that withdraws the consent to news", r.unsubscribePage)
}

// The input has no body, because mail programs post a form (RFC 8058).
type unsubscribeIn struct {
	Token telemetry.Secret `path:"token" maxLength:"64"`
}

func (r *memberRoutes) unsubscribe(ctx context.Context, in *unsubscribeIn) (*struct{}, error) {
	return nil, r.accounts.WithdrawNews(ctx, string(in.Token))
}

type redirectOut struct {
	Status   int
	Location string `header:"Location"`
}

// unsubscribePage changes nothing: scanners open every link of an e-mail. The token moves behind #, which browsers send to
// no server.
func (r *memberRoutes) unsubscribePage(_ context.Context, in *unsubscribeIn) (*redirectOut, error) {
	return &redirectOut{http.StatusSeeOther, UnsubscribePage + string(in.Token)}, nil
}
