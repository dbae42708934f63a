// Package audithttp has the route of the audit log.
package audithttp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
)

// auditRoutes are the routes of the audit log.
type auditRoutes struct{ log audit.Reader }

// Register registers the audit log's route. It does not accept the service token.
func Register(a *httpapi.API, log audit.Reader) {
	m, ops := &auditRoutes{log}, a.Operations("Audit", httpapi.Admin)
	httpapi.Register(ops, "audit-list", "GET /api/audit", "View the audit log", m.entries)
}

type auditIn struct {
	httpapi.Paging
	httpapi.NameOrder
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
	Seq       string            `json:"seq"`
	At        time.Time         `json:"at"`
	Actor     string            `json:"actor"`
	ActorName string            `json:"actorName" doc:"The current name of the account; empty if unknown."`
	Action    string            `json:"action"`
	Subject   string            `json:"subject"`
	Names     map[string]string `json:"subjectNames" doc:"The current names of the subject by locale; under \"und\" if it has only one name. Empty if unknown."`
	BranchID  *string           `json:"branchId"`
	RequestID string            `json:"requestId"`
	Address   string            `json:"address" doc:"Client address; empty for entries without a request, and for entries older than this field."`
	Before    json.RawMessage   `json:"before" doc:"The old value; null if there was none."`
	After     json.RawMessage   `json:"after" doc:"The new value; null if there is none."`
	Hash      string            `json:"hash" doc:"Hash of this entry, chained to all entries before it."`
}

func entryOf(e audit.Entry, names map[string]string) entry {
	return entry{
		Seq: httpapi.FormatID(e.Seq), At: e.At, Actor: e.Actor, Action: e.Action, Subject: e.Subject,
		ActorName: names[e.Actor], Names: localized(names[e.Subject]),
		BranchID:  httpapi.IDOrNull(e.Branch),
		RequestID: e.RequestID, Address: e.Address, Before: rawOf(e.Before), After: rawOf(e.After), Hash: e.Hash,
	}
}

// localized returns a name by locale. A text that is not a JSON object is the same in all languages.
func localized(name string) map[string]string {
	names := map[string]string{}
	if strings.HasPrefix(name, "{") && json.Unmarshal([]byte(name), &names) == nil {
		return names
	}
	if name != "" {
		return map[string]string{undetermined: name}
	}
	return map[string]string{}
}

// undetermined is BCP 47's tag for a text whose language is unknown.
const undetermined = "und"

// rawOf returns stored JSON. Text that is not JSON, as after manual changes of the log, is returned as a string.
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
func (m *auditRoutes) entries(ctx context.Context, in *auditIn) (httpapi.Listed[entry], error) {
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
		return httpapi.Listed[entry]{}, err
	}
	page, total, err := m.log.Entries(ctx, f)
	if err != nil {
		return httpapi.Listed[entry]{}, err
	}
	subjects := make([]string, 0, 2*len(page))
	for _, e := range page {
		subjects = append(subjects, e.Actor, e.Subject)
	}
	slices.Sort(subjects)
	names, err := m.log.Names(ctx, in.Language(), slices.Compact(subjects))
	return httpapi.ListedOf(in.Paging, page, total, func(e audit.Entry) entry { return entryOf(e, names) }), err
}
