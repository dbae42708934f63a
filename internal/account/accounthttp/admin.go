package accounthttp

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
)

// adminRoutes are the routes of administration.
type adminRoutes struct{ administration *account.Administration }

// RegisterAdmin registers the administration of accounts. It does not accept the service token: a script can neither
// create users nor raise their permissions.
func RegisterAdmin(a *httpapi.API, administration *account.Administration) {
	m := &adminRoutes{administration}
	ops := a.Operations("Users", httpapi.Admin)
	httpapi.Register(ops, "user-list", "GET /api/users", "List the accounts that you may see", m.list)
	httpapi.Register(ops, "user-create", "POST /api/users",
		"Create an active account with a role", m.create, httpapi.Created)
	httpapi.Register(ops, "user-get", "GET /api/users/{id}", "View an account", m.get)
	httpapi.Register(ops, "user-change", "PATCH /api/users/{id}", "Edit the profile of an account", m.change)
	httpapi.Register(ops, "user-role", "POST /api/users/{id}/role",
		"Change the role and branches of an account and log it out everywhere", m.assign)
	httpapi.Register(ops, "user-disable", "POST /api/users/{id}/disable",
		"Deactivate an account and log it out everywhere", m.disable)
	httpapi.Register(ops, "user-enable", "POST /api/users/{id}/enable", "Reactivate an account", m.enable)
	httpapi.Register(ops, "user-pin", "PUT /api/users/{id}/pin",
		"Reset the PIN of an account and log it out everywhere", m.resetPin)
}

type usersIn struct {
	httpapi.Paging
	Province   string `query:"province" text:"line" maxLength:"100"`
	City       string `query:"city" text:"line" maxLength:"100"`
	Registered string `query:"registered" enum:"yes,no" doc:"Whether the e-mail address is verified."`
	Role       string `query:"role" text:"line" maxLength:"32" doc:"The name of a role."`
	Status     string `query:"status" enum:"PENDING,ACTIVE,DISABLED"`
	Email      string `query:"email" text:"line" maxLength:"254" doc:"The exact e-mail address. Use one exact value at a time; the other filters do not apply to it."`
	Phone      string `query:"phone" text:"line" maxLength:"32" doc:"The exact phone number."`
	Username   string `query:"username" text:"line" maxLength:"64" doc:"The exact username."`
	DeviceID   string `query:"deviceId" text:"line" maxLength:"128" doc:"The exact device id."`
	GoogleID   string `query:"googleId" text:"line" maxLength:"128" doc:"The exact Google id."`
	Sort       string `query:"sort" enum:"id,lastLogin" default:"id" doc:"lastLogin: the newest login first; accounts that never logged in last."`
	Query      string `query:"q" text:"line" maxLength:"100" doc:"Part of the e-mail address, username, phone number or name."`
}

// exact returns the exact value of a request; ok is false if there is none.
func (in *usersIn) exact() (v account.UserValue, ok bool, err error) {
	for _, e := range []account.UserValue{
		{Index: "email", Value: in.Email}, {Index: "phone", Value: in.Phone}, {Index: "username", Value: in.Username},
		{Index: "device", Value: in.DeviceID}, {Index: "google", Value: in.GoogleID},
	} {
		if e.Value == "" {
			continue
		}
		if ok {
			return v, ok, fault.New(fault.Invalid, "invalid", "Search for one exact value at a time.")
		}
		v, ok = e, true
	}
	return v, ok, nil
}

func (r *adminRoutes) list(ctx context.Context, in *usersIn) (httpapi.Listed[Account], error) {
	if v, ok, err := in.exact(); ok {
		var page []account.User
		if err == nil {
			u, found, errFind := r.administration.FindUser(ctx, authz.ActorOf(ctx), v)
			if err = errFind; found {
				page = append(page, u)
			}
		}
		return httpapi.ListedOf(in.Paging, page, int64(len(page)), accountOf), err
	}
	f := account.UserFilter{
		Query: in.Query, Province: in.Province, City: in.City, Role: in.Role, Status: account.Status(in.Status),
		ByLogin: in.Sort == "lastLogin", Limit: in.Size, Offset: in.Offset(),
	}
	if in.Registered != "" {
		yes := in.Registered == "yes"
		f.Registered = &yes
	}
	page, total, err := r.administration.ListUsers(ctx, authz.ActorOf(ctx), f)
	return httpapi.ListedOf(in.Paging, page, total, accountOf), err
}

type postBody struct {
	RoleID   string   `json:"roleId" pattern:"^[1-9][0-9]{0,17}$"`
	Branches []string `json:"branches,omitempty" text:"exact" maxItems:"100" doc:"Branch ids; required unless the role works in all branches."`
}

func (p postBody) post() (account.Assignment, error) {
	branches, err := seq.TryMap(p.Branches, httpapi.ParseID)
	return account.Assignment{RoleID: httpapi.IDOf(p.RoleID), Branches: branches}, err
}

type hireIn struct {
	Body struct {
		Details

		RoleID   string           `json:"roleId" pattern:"^[1-9][0-9]{0,17}$"`
		Branches []string         `json:"branches,omitempty" text:"exact" maxItems:"100" doc:"Branch ids; required unless the role works in all branches."`
		Email    string           `json:"email,omitempty" text:"line" minLength:"3" maxLength:"254" doc:"Required unless a username and a PIN are given."`
		Password telemetry.Secret `json:"password,omitempty" minLength:"15" maxLength:"128" doc:"If omitted, the user sets a password with a code."`
		Pin      telemetry.Secret `json:"pin,omitempty" minLength:"4" maxLength:"8" doc:"4 to 8 digits. Staff use it to take over a shared device."`
	}
}

func (r *adminRoutes) create(ctx context.Context, in *hireIn) (Account, error) {
	post, err := postBody{in.Body.RoleID, in.Body.Branches}.post()
	if err != nil {
		return Account{}, err
	}
	n := account.NewUser{
		Profile: in.Body.profile(in.Body.Email), Password: string(in.Body.Password), Pin: string(in.Body.Pin),
	}
	return accountResult(r.administration.CreateUser(ctx, authz.ActorOf(ctx), n, post))
}

// accountResult returns the response for an account.
func accountResult(u account.User, err error) (Account, error) {
	return accountOf(u), err
}

func (r *adminRoutes) get(ctx context.Context, in *httpapi.ByID) (Account, error) {
	return accountResult(r.administration.User(ctx, authz.ActorOf(ctx), in.ID))
}

func (r *adminRoutes) change(ctx context.Context, in *httpapi.BodyByID[changes]) (Account, error) {
	return accountResult(r.administration.UpdateUser(ctx, authz.ActorOf(ctx), in.ID, in.Body.changes()))
}

func (r *adminRoutes) assign(ctx context.Context, in *httpapi.BodyByID[postBody]) (Account, error) {
	post, err := in.Body.post()
	if err != nil {
		return Account{}, err
	}
	return accountResult(r.administration.Assign(ctx, authz.ActorOf(ctx), in.ID, post))
}

func (r *adminRoutes) disable(ctx context.Context, in *httpapi.ByID) (Account, error) {
	return accountResult(r.administration.Disable(ctx, authz.ActorOf(ctx), in.ID))
}

func (r *adminRoutes) enable(ctx context.Context, in *httpapi.ByID) (Account, error) {
	return accountResult(r.administration.Enable(ctx, authz.ActorOf(ctx), in.ID))
}

type pinBody struct {
	Pin telemetry.Secret `json:"pin" minLength:"4" maxLength:"8" doc:"4 to 8 digits. It cannot be read again."`
}

func (r *adminRoutes) resetPin(ctx context.Context, in *httpapi.BodyByID[pinBody]) (Account, error) {
	return accountResult(r.administration.ResetPin(ctx, authz.ActorOf(ctx), in.ID, string(in.Body.Pin)))
}

// flagRoutes are the routes of fraud flags.
type flagRoutes struct{ trust *account.Trust }

// RegisterFlags registers the routes of fraud flags. The service token is not accepted, as for accounts.
func RegisterFlags(a *httpapi.API, trust *account.Trust) {
	m := &flagRoutes{trust}
	ops := a.Operations("Users", httpapi.Admin)
	httpapi.Register(ops, "user-flags", "GET /api/users/{id}/flags", "List the fraud flags of an account, newest first", m.list)
	httpapi.Register(ops, "user-flag-add", "POST /api/users/{id}/flags",
		"Flag a member for an order that was not picked up, or a chargeback", m.add, httpapi.Created)
	httpapi.RegisterOutput(ops, "user-flag-remove", "DELETE /api/users/{id}/flags/{flagId}", "Remove a flag", m.remove)
}

// Flag is a fraud flag as the API shows it.
type Flag struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"EXPIRED_ORDER,NO_SHOW,CHARGEBACK"`
	OrderID   *string   `json:"orderId"`
	Note      string    `json:"note"`
	CreatedAt time.Time `json:"createdAt"`
	CreatedBy string    `json:"createdBy"`
}

func flagOf(f account.Flag) Flag {
	return Flag{
		ID: f.ID, Kind: string(f.Kind), OrderID: httpapi.OrNull(f.OrderID), Note: f.Note, CreatedAt: f.CreatedAt,
		CreatedBy: f.CreatedBy,
	}
}

// flagsIn has the paging of all lists. A page has up to 200 flags, because the list had so many before it had pages.
type flagsIn struct {
	httpapi.ByID

	Page int `query:"page" default:"1" minimum:"1" maximum:"1000000"`
	Size int `query:"size" default:"200" minimum:"1" maximum:"200"`
}

func (m *flagRoutes) list(ctx context.Context, in *flagsIn) (httpapi.Listed[Flag], error) {
	p := httpapi.Paging{Page: in.Page, Size: in.Size}
	page, total, err := m.trust.Flags(ctx, authz.ActorOf(ctx), in.ID, p.Size, p.Offset())
	return httpapi.ListedOf(p, page, total, flagOf), err
}

type flagBody struct {
	Kind    string `json:"kind" enum:"NO_SHOW,CHARGEBACK"`
	OrderID string `json:"orderId,omitempty" text:"exact" maxLength:"32" doc:"The order that it is about, of this member."`
	Note    string `json:"note,omitempty" text:"lines" maxLength:"300"`
}

func (m *flagRoutes) add(ctx context.Context, in *httpapi.BodyByID[flagBody]) (Flag, error) {
	f, err := m.trust.AddFlag(ctx, authz.ActorOf(ctx), account.Flag{
		User: in.ID, Kind: account.FlagKind(in.Body.Kind), OrderID: in.Body.OrderID, Note: in.Body.Note,
	})
	return flagOf(f), err
}

type flagIn struct {
	httpapi.ByID

	FlagID string `path:"flagId" text:"exact" maxLength:"32"`
}

func (m *flagRoutes) remove(ctx context.Context, in *flagIn) (*struct{}, error) {
	return nil, m.trust.RemoveFlag(ctx, authz.ActorOf(ctx), in.ID, in.FlagID)
}
