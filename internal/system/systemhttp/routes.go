// Package systemhttp serves the operators' routes: the state of the installation, its queues and dead letters, and
// consistency checks.
package systemhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/system"
)

// routes translates between HTTP and the Service, and checks that the account may see all branches.
type routes struct {
	service   *system.Service
	readiness func(ctx context.Context) httpapi.Readiness
}

// Register adds the routes. By default only administrators and owners have their permissions.
func Register(a *httpapi.API, service *system.Service) {
	r := routes{service, a.Readiness}
	tags := []string{"System"}
	httpapi.Register(a, huma.Operation{
		OperationID: "system-readiness", Method: http.MethodGet, Path: "/api/system/readiness", Tags: tags,
		Summary: "Whether this process can serve, and what each of its checks says",
	}, httpapi.Staff, r.ready)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-about", Method: http.MethodGet, Path: "/api/system/about", Tags: tags,
		Summary: "What this process is and works on",
	}, httpapi.Staff, r.about)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-outbox", Method: http.MethodGet, Path: "/api/system/outbox", Tags: tags,
		Summary: "Events and Redis changes that wait, and dead letters",
	}, httpapi.Staff, r.outbox)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-letters", Method: http.MethodGet, Path: "/api/system/dead-letters", Tags: tags,
		Summary: "Dead letters, the newest first",
	}, httpapi.Staff, r.letters)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-replay", Method: http.MethodPost, Path: "/api/system/dead-letters/{id}/replay", Tags: tags,
		Summary: "Bring a dead letter on its way again",
	}, httpapi.Staff, r.replay)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-replay-all", Method: http.MethodPost, Path: "/api/system/dead-letters/replay-all", Tags: tags,
		Summary: "Bring the newest 200 dead letters on their way again",
	}, httpapi.Staff, r.replayAll)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-keys-audit", Method: http.MethodGet, Path: "/api/system/keys-audit", Tags: tags,
		Summary: "Compare the keys of Redis with their declarations, 100000 at most",
	}, httpapi.Staff, r.keys)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-reconcile", Method: http.MethodPost, Path: "/api/system/reconcile", Tags: tags,
		Summary: "Compare ledger, holds, orders, money and Redis; nothing is changed",
	}, httpapi.Staff, r.reconcile)
	httpapi.Register(a, huma.Operation{
		OperationID: "system-index", Method: http.MethodGet, Path: "/api/system/index", Tags: tags,
		Summary: "Compare the documents in Redis and their indexes with SQL, 100000 at most",
	}, httpapi.Staff, r.index)
}

type answer[T any] struct{ Body T }

// answered drops the value of a failed call: a partial result is not shown.
func answered[T any](v T, err error) (*answer[T], error) {
	if err != nil {
		return nil, err
	}
	return &answer[T]{v}, nil
}

// everywhere refuses accounts that are restricted to some branches, because the data is not separated by branch.
func everywhere(ctx context.Context) error {
	if !authz.ActorOf(ctx).AllBranches {
		return authz.ErrForbidden
	}
	return nil
}

func (r routes) ready(ctx context.Context, _ *struct{}) (*answer[httpapi.Readiness], error) {
	return answered(r.readiness(ctx), nil)
}

func (r routes) about(ctx context.Context, _ *struct{}) (*answer[system.About], error) {
	return answered(r.service.About(ctx))
}

func (r routes) outbox(ctx context.Context, _ *struct{}) (*answer[system.Outbox], error) {
	return answered(r.service.Outbox(ctx))
}

type lettersInput struct {
	Consumer string `query:"consumer" text:"exact" maxLength:"100" doc:"A consumer, relay or redis; if omitted all except redis."`
	Type     string `query:"type" text:"exact" maxLength:"100" doc:"Such as order.paid."`
	Page     int    `query:"page" minimum:"1" maximum:"100000" default:"1"`
	Size     int    `query:"size" minimum:"1" maximum:"100" default:"20"`
}

// letter is a dead letter as the console shows it. BranchID is null if the event has no branch.
type letter struct {
	ID        string          `json:"id"`
	Consumer  string          `json:"consumer"`
	Type      string          `json:"type"`
	BranchID  *string         `json:"branchId"`
	About     string          `json:"about" doc:"The aggregate and its id, such as order:06gv..."`
	Payload   json.RawMessage `json:"payload" doc:"With secret values masked."`
	Reason    string          `json:"reason" doc:"The last error."`
	CreatedAt time.Time       `json:"createdAt"`
	DiedAt    time.Time       `json:"diedAt"`
}

type lettersBody struct {
	Items []letter `json:"items"`
	Page  int      `json:"page"`
	Size  int      `json:"size"`
	Total int64    `json:"total"`
}

func (r routes) letters(ctx context.Context, in *lettersInput) (*answer[lettersBody], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	page, total, err := r.service.DeadLetters(ctx, system.DeadLetterFilter{
		Consumer: in.Consumer, Type: in.Type, Limit: in.Size, Offset: (in.Page - 1) * in.Size,
	})
	body := lettersBody{make([]letter, len(page)), in.Page, in.Size, total}
	for i, l := range page {
		body.Items[i] = letter{l.ID, l.Consumer, l.Type, nil, l.About, l.Payload, l.Reason, l.CreatedAt, l.DiedAt}
		if l.Branch != 0 {
			id := strconv.FormatInt(l.Branch, 10)
			body.Items[i].BranchID = &id
		}
	}
	return answered(body, err)
}

type replayInput struct {
	ID string `path:"id" minLength:"1" maxLength:"64"`
}

func (r routes) replay(ctx context.Context, in *replayInput) (*answer[system.Replayed], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	return answered(r.service.Replay(ctx, authz.ActorOf(ctx), in.ID))
}

type replayAllInput struct {
	Consumer string `query:"consumer" text:"exact" maxLength:"100" doc:"As in the list."`
	Type     string `query:"type" text:"exact" maxLength:"100"`
}

type replayAllBody struct {
	system.Replayed
	Left int64 `json:"left" doc:"Including those that failed again."`
}

func (r routes) replayAll(ctx context.Context, in *replayAllInput) (*answer[replayAllBody], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	f := system.DeadLetterFilter{Consumer: in.Consumer, Type: in.Type}
	sum, left, err := r.service.ReplayAll(ctx, authz.ActorOf(ctx), f)
	return answered(replayAllBody{sum, left}, err)
}

func (r routes) keys(ctx context.Context, _ *struct{}) (*answer[keyaudit.Report], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	return answered(r.service.AuditKeys(ctx))
}

type reconcileInput struct {
	BranchID string `query:"branchId" pattern:"^[1-9][0-9]{0,17}$" doc:"All branches if omitted."`
}

// Accounts of some branches may compare one of theirs. A foreign branch looks like a missing one.
func (r routes) reconcile(ctx context.Context, in *reconcileInput) (*answer[system.Reconciliation], error) {
	if in.BranchID == "" {
		if err := everywhere(ctx); err != nil {
			return nil, err
		}
		return answered(r.service.Reconcile(ctx, 0))
	}
	branch, err := strconv.ParseInt(in.BranchID, 10, 64)
	if err != nil || !authz.ActorOf(ctx).Sees(branch) {
		return nil, catalog.ErrBranch
	}
	return answered(r.service.Reconcile(ctx, branch))
}

func (r routes) index(ctx context.Context, _ *struct{}) (*answer[system.Index], error) {
	if err := everywhere(ctx); err != nil {
		return nil, err
	}
	return answered(r.service.Index(ctx))
}
