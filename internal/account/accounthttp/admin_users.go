package accounthttp

import (
	"context"
	"net/http"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// adminRoutes are the routes of administration.
type adminRoutes struct{ administration *account.Administration }

// Admin registers the administration of accounts. It does not accept the service token: a script can neither create
// users nor raise their permissions.
func Admin(a *httpapi.API, administration *account.Administration) {
	m := &adminRoutes{administration}
	op := httpapi.Operations("Users")
	httpapi.Register(a, op("user-list", http.MethodGet, "/api/users",
		"Lists the accounts that you may see", http.StatusOK), httpapi.Admin, m.list)
	httpapi.Register(a, op("user-create", http.MethodPost, "/api/users",
		"Creates an active account with a role", http.StatusCreated), httpapi.Admin, m.create)
	httpapi.Register(a, op("user-get", http.MethodGet, "/api/users/{id}",
		"Returns an account", http.StatusOK), httpapi.Admin, m.get)
	httpapi.Register(a, op("user-change", http.MethodPatch, "/api/users/{id}",
		"Changes the profile of an account", http.StatusOK), httpapi.Admin, m.change)
	httpapi.Register(a, op("user-role", http.MethodPost, "/api/users/{id}/role",
		"Changes a user's role and branches and ends their sessions", http.StatusOK), httpapi.Admin, m.assign)
	httpapi.Register(a, op("user-disable", http.MethodPost, "/api/users/{id}/disable",
		"Disables an account and ends its sessions", http.StatusOK), httpapi.Admin, m.disable)
	httpapi.Register(a, op("user-enable", http.MethodPost, "/api/users/{id}/enable",
		"Enables an account", http.StatusOK), httpapi.Admin, m.enable)
}

type usersIn struct {
	httpapi.Paging
	Province   string `query:"province" text:"line" maxLength:"100"`
	City       string `query:"city" text:"line" maxLength:"100"`
	Registered string `query:"registered" enum:"yes,no" doc:"Whether the e-mail address is verified."`
	Role       string `query:"role" text:"line" maxLength:"32" doc:"The name of a role."`
	Status     string `query:"status" enum:"PENDING,ACTIVE,DISABLED"`
	Query      string `query:"q" text:"line" maxLength:"100" doc:"Part of the e-mail address, username, phone number or name."`
}

func (m *adminRoutes) list(ctx context.Context, in *usersIn) (*httpapi.Output[httpapi.Listed[Account]], error) {
	f := account.UserFilter{
		Query: in.Query, Province: in.Province, City: in.City, Role: in.Role, Status: account.Status(in.Status),
		Limit: in.Size, Offset: in.Offset(),
	}
	if in.Registered != "" {
		yes := in.Registered == "yes"
		f.Registered = &yes
	}
	page, total, err := m.administration.ListUsers(ctx, authz.ActorOf(ctx), f)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(httpapi.ListedOf(in.Paging, page, total, accountOf)), nil
}

type postBody struct {
	RoleID   string   `json:"roleId" pattern:"^[1-9][0-9]{0,17}$"`
	Branches []string `json:"branches,omitempty" text:"exact" maxItems:"100" doc:"Branch ids; required unless the role works in all branches."`
}

func (p postBody) post() (account.Assignment, error) {
	role, err := httpapi.ParseID(p.RoleID)
	if err != nil {
		return account.Assignment{}, err
	}
	post := account.Assignment{RoleID: role, Branches: make([]int64, len(p.Branches))}
	for i, b := range p.Branches {
		if post.Branches[i], err = httpapi.ParseID(b); err != nil {
			return account.Assignment{}, err
		}
	}
	return post, nil
}

type hireIn struct {
	Body struct {
		Details

		RoleID   string           `json:"roleId" pattern:"^[1-9][0-9]{0,17}$"`
		Branches []string         `json:"branches,omitempty" text:"exact" maxItems:"100" doc:"Branch ids; required unless the role works in all branches."`
		Email    string           `json:"email" text:"line" minLength:"3" maxLength:"254"`
		Password telemetry.Secret `json:"password,omitempty" minLength:"15" maxLength:"128" doc:"Without one the user sets it with a code."`
	}
}

func (m *adminRoutes) create(ctx context.Context, in *hireIn) (*httpapi.Output[Account], error) {
	post, err := postBody{in.Body.RoleID, in.Body.Branches}.post()
	if err != nil {
		return nil, err
	}
	profile := in.Body.profile(in.Body.Email)
	return accountResult(m.administration.CreateUser(ctx, authz.ActorOf(ctx), profile, string(in.Body.Password), post))
}

// accountResult returns the response for an account, or the error.
func accountResult(u account.User, err error) (*httpapi.Output[Account], error) {
	return httpapi.Answer(accountOf, u, err)
}

type userIn struct {
	ID int64 `path:"id"`
}

func (m *adminRoutes) get(ctx context.Context, in *userIn) (*httpapi.Output[Account], error) {
	return accountResult(m.administration.User(ctx, authz.ActorOf(ctx), in.ID))
}

type userChangeIn struct {
	ID int64 `path:"id"`

	Body changes
}

func (m *adminRoutes) change(ctx context.Context, in *userChangeIn) (*httpapi.Output[Account], error) {
	return accountResult(m.administration.UpdateUser(ctx, authz.ActorOf(ctx), in.ID, in.Body.changes()))
}

type userPostIn struct {
	ID int64 `path:"id"`

	Body postBody
}

func (m *adminRoutes) assign(ctx context.Context, in *userPostIn) (*httpapi.Output[Account], error) {
	post, err := in.Body.post()
	if err != nil {
		return nil, err
	}
	return accountResult(m.administration.Assign(ctx, authz.ActorOf(ctx), in.ID, post))
}

func (m *adminRoutes) disable(ctx context.Context, in *userIn) (*httpapi.Output[Account], error) {
	return accountResult(m.administration.Disable(ctx, authz.ActorOf(ctx), in.ID))
}

func (m *adminRoutes) enable(ctx context.Context, in *userIn) (*httpapi.Output[Account], error) {
	return accountResult(m.administration.Enable(ctx, authz.ActorOf(ctx), in.ID))
}
