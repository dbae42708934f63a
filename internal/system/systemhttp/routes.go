// Package systemhttp serves the operators' routes: the state of the installation, its queues and dead letters, and
// consistency checks.
package systemhttp

import (
	"context"
	"encoding/json"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/keyspace/keyaudit"
	"comanda/internal/mail"
	"comanda/internal/queue"
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
	ops := a.Operations("System", httpapi.Staff)
	httpapi.Register(ops, "system-readiness", "GET /api/system/readiness",
		"View whether this process can serve, and the result of each check", r.ready)
	httpapi.Register(ops, "system-about", "GET /api/system/about", "View the version and the parts of this process", r.about)
	httpapi.Register(ops, "system-outbox", "GET /api/system/outbox",
		"View the queues and the failed events", r.outbox)
	httpapi.Register(ops, "system-letters", "GET /api/system/dead-letters",
		"List failed events (dead letters), newest first", authz.Everywhere(r.letters))
	httpapi.Register(ops, "system-replay", "POST /api/system/dead-letters/{id}/replay",
		"Retry a failed event", authz.Everywhere(r.replay))
	httpapi.Register(ops, "system-replay-all", "POST /api/system/dead-letters/replay-all",
		"Retry the newest 200 failed events", authz.Everywhere(r.replayAll))
	httpapi.Register(ops, "system-mail", "GET /api/system/mail",
		"List e-mails that wait or failed, newest first", authz.Everywhere(r.mail))
	httpapi.RegisterOutput(ops, "system-mail-again", "POST /api/system/mail/{id}/send-again",
		"Send an e-mail again", authz.Everywhere(r.mailAgain))
	httpapi.Register(ops, "system-keys-audit", "GET /api/system/keys-audit",
		"Compare the keys of Redis with their declarations, 100000 at most", authz.Everywhere(r.keys))
	httpapi.Register(ops, "system-reconcile", "POST /api/system/reconcile",
		"Reconcile ledger, holds, orders, money and Redis; nothing is changed", r.reconcile)
	httpapi.Register(ops, "system-index", "GET /api/system/index",
		"Compare the documents in Redis and their indexes with SQL, 100000 at most", authz.Everywhere(r.index))
}

func (r routes) ready(ctx context.Context, _ *struct{}) (httpapi.Readiness, error) {
	return r.readiness(ctx), nil
}

func (r routes) about(ctx context.Context, _ *struct{}) (system.About, error) {
	return r.service.About(ctx)
}

func (r routes) outbox(ctx context.Context, _ *struct{}) (system.Outbox, error) {
	return r.service.Outbox(ctx)
}

type lettersInput struct {
	Consumer string `query:"consumer" text:"exact" maxLength:"100" doc:"A consumer, relay or redis; if omitted, all except redis."`
	Type     string `query:"type" text:"exact" maxLength:"100" doc:"Such as order.paid."`
	httpapi.ShortPaging
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

func (r routes) letters(ctx context.Context, in *lettersInput) (httpapi.Listed[letter], error) {
	page, total, err := r.service.DeadLetters(ctx, system.DeadLetterFilter{
		Consumer: in.Consumer, Type: in.Type, Limit: in.Size, Offset: in.Offset(),
	})
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), page, total, func(l queue.DeadLetter) letter {
		return letter{
			l.ID, l.Consumer, l.Type, httpapi.IDOrNull(l.Branch), l.About, l.Payload, l.Reason, l.CreatedAt, l.DiedAt,
		}
	}), err
}

type replayInput struct {
	ID string `path:"id" minLength:"1" maxLength:"64"`
}

func (r routes) replay(ctx context.Context, in *replayInput) (system.Replayed, error) {
	return r.service.Replay(ctx, authz.ActorOf(ctx), in.ID)
}

type replayAllInput struct {
	Consumer string `query:"consumer" text:"exact" maxLength:"100" doc:"As in the list."`
	Type     string `query:"type" text:"exact" maxLength:"100"`
}

type replayAllBody struct {
	system.Replayed
	Left int64 `json:"left" doc:"Number of remaining dead letters, including those that failed again."`
}

func (r routes) replayAll(ctx context.Context, in *replayAllInput) (replayAllBody, error) {
	f := system.DeadLetterFilter{Consumer: in.Consumer, Type: in.Type}
	sum, left, err := r.service.ReplayAll(ctx, authz.ActorOf(ctx), f)
	return replayAllBody{sum, left}, err
}

func (r routes) keys(ctx context.Context, _ *struct{}) (keyaudit.Report, error) {
	return r.service.AuditKeys(ctx)
}

type reconcileInput struct {
	BranchID string `query:"branchId" pattern:"^[1-9][0-9]{0,17}$" doc:"All branches if omitted."`
}

// Accounts of some branches may compare one of theirs. A foreign branch looks like a missing one.
func (r routes) reconcile(ctx context.Context, in *reconcileInput) (system.Reconciliation, error) {
	by, branch := authz.ActorOf(ctx), httpapi.IDOf(in.BranchID)
	switch {
	case branch == 0 && !by.AllBranches:
		return system.Reconciliation{}, authz.ErrForbidden
	case !by.Sees(branch):
		return system.Reconciliation{}, catalog.ErrBranch
	}
	return r.service.Reconcile(ctx, branch)
}

func (r routes) index(ctx context.Context, _ *struct{}) (system.Index, error) {
	return r.service.Index(ctx)
}

type mailInput struct {
	State string `query:"state" enum:"WAITING,FAILED" doc:"Both if omitted."`
	httpapi.ShortPaging
}

// systemMail is an e-mail as the console shows it: without its content, which is its recipient's alone.
type systemMail struct {
	ID           string    `json:"id"`
	State        string    `json:"state" enum:"WAITING,FAILED"`
	Recipient    string    `json:"recipient" doc:"The address without most of its local part."`
	Template     string    `json:"template" doc:"What it is about, such as order_paid."`
	Locale       string    `json:"locale" doc:"Its language."`
	BranchID     *string   `json:"branchId"`
	OrderID      *string   `json:"orderId"`
	CreatedAt    time.Time `json:"createdAt"`
	DueAt        time.Time `json:"dueAt" doc:"The next attempt, if it waits."`
	Attempts     int       `json:"attempts"`
	Reason       string    `json:"reason" doc:"The last error; empty if there was none."`
	CanSendAgain bool      `json:"canSendAgain" doc:"false if it had a one-time code, which is deleted with a failure."`
}

func (r routes) mail(ctx context.Context, in *mailInput) (httpapi.Listed[systemMail], error) {
	page, total, err := r.service.Mail(ctx, mail.State(in.State), in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), page, total, func(e mail.Entry) systemMail {
		return systemMail{
			e.ID, string(e.State), e.Recipient, e.Template, e.Locale, httpapi.IDOrNull(e.Branch), httpapi.OrNull(e.OrderID),
			e.Created, e.Due, e.Attempts, e.Reason, e.CanSendAgain(),
		}
	}), err
}

type mailAgainInput struct {
	ID string `path:"id" minLength:"1" maxLength:"64"`
}

func (r routes) mailAgain(ctx context.Context, in *mailAgainInput) (*struct{}, error) {
	return nil, r.service.SendMailAgain(ctx, authz.ActorOf(ctx), in.ID)
}
