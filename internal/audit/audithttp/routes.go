package audithttp

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// auditRoutes are the routes of the audit log.
type auditRoutes struct{ log audit.Reader }

// Register registers the audit log's route. It does not accept the service token.
func Register(a *httpapi.API, log audit.Reader) {
	m := &auditRoutes{log}
	httpapi.Register(a, huma.Operation{
		OperationID: "audit-list", Method: http.MethodGet, Path: "/api/audit", Tags: []string{"Audit"},
		Summary: "Lists audit log entries, newest first",
	}, httpapi.Admin, m.entries)
}

type auditIn struct {
	httpapi.Paging
	Subject  string    `query:"subject" text:"line" maxLength:"100" doc:"Such as user:12 or table:3."`
	Actor    string    `query:"actor" text:"line" maxLength:"100" doc:"Such as user:7, service or system."`
	Action   string    `query:"action" text:"line" maxLength:"100" doc:"Such as refund_decided or quota_set."`
	BranchID int64     `query:"branchId" minimum:"0"`
	From     time.Time `query:"from" doc:"Inclusive."`
	To       time.Time `query:"to" doc:"Exclusive."`
}

// endOfTime is after every entry.
var endOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// entry is an audit entry as the API shows it.
type entry struct {
	Seq       string          `json:"seq"`
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	Action    string          `json:"action"`
	Subject   string          `json:"subject"`
	BranchID  *string         `json:"branchId"`
	RequestID string          `json:"requestId"`
	Address   string          `json:"address" doc:"Client address; empty without a request, and in entries older than this field."`
	Before    json.RawMessage `json:"before" doc:"The old value; null if there was none."`
	After     json.RawMessage `json:"after" doc:"The new value; null if there is none."`
	Hash      string          `json:"hash" doc:"Hash of this entry, chained to all entries before it."`
}

func entryOf(e audit.Entry) entry {
	out := entry{
		Seq: strconv.FormatInt(e.Seq, 10), At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject,
		RequestID: e.RequestID, Address: e.Address, Before: rawOf(e.Before), After: rawOf(e.After), Hash: e.Hash,
	}
	if e.Branch != 0 {
		id := strconv.FormatInt(e.Branch, 10)
		out.BranchID = &id
	}
	return out
}

// rawOf returns stored JSON. Text that is no JSON, as after manual changes of the log, is returned as a string.
func rawOf(s string) json.RawMessage {
	switch {
	case s == "":
		return json.RawMessage("null")
	case !json.Valid([]byte(s)):
		text, _ := json.Marshal(s) // marshalling a string never fails
		return text
	}
	return json.RawMessage(s)
}

// entries returns only what the actor may see, see Filter.Visible; the total counts the same entries.
func (m *auditRoutes) entries(ctx context.Context, in *auditIn) (*httpapi.Output[httpapi.Listed[entry]], error) {
	f := audit.Filter{
		Subject: in.Subject, Actor: in.Actor, Action: in.Action, Branch: in.BranchID, From: in.From, To: in.To,
		Limit: in.Size, Offset: in.Offset(),
	}
	// The statement compares with an upper bound always, so an open end is a date that no entry reaches.
	if f.To.IsZero() {
		f.To = endOfTime
	}
	f, err := f.Visible(authz.ActorOf(ctx))
	if err != nil {
		return nil, err
	}
	page, total, err := m.log.Entries(ctx, f)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(httpapi.ListedOf(in.Paging, page, total, entryOf)), nil
}
