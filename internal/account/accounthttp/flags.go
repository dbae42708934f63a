package accounthttp

import (
	"context"
	"time"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
)

// flagRoutes are the routes of fraud flags.
type flagRoutes struct{ trust *account.Trust }

// Flags registers the routes of fraud flags. The service token is not accepted, as for accounts.
func Flags(a *httpapi.API, trust *account.Trust) {
	m := &flagRoutes{trust}
	ops := a.Operations("Users", httpapi.Admin)
	httpapi.Register(ops, "user-flags", "GET /api/users/{id}/flags", "List the fraud flags of an account", m.list)
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

type flagList struct {
	Items []Flag `json:"items" doc:"Newest first; at most 200."`
}

func (m *flagRoutes) list(ctx context.Context, in *httpapi.ByID) (flagList, error) {
	all, err := m.trust.Flags(ctx, authz.ActorOf(ctx), in.ID)
	return flagList{seq.Map(all, flagOf)}, err
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
