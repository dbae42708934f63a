package app

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/audit"
	"comanda/internal/mail"
	"comanda/internal/mail/mailsql"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
	"comanda/internal/uid"
)

var emailInsert = sqldb.Load(fstest.MapFS{"email.sql": {Data: []byte(`
	INSERT INTO mail_outbox (id, recipient, template, locale, fields, created_at, available_at, expires_at, attempts,
	                         last_error, dead, branch_id, order_id)
	VALUES ($1, 'lan@guests.example', $2, 'vi', '{"code":"secret"}', $3, $4, $4, 3, '550 5.1.1', $5, 1, 'o1')`)}}).Must("email")

// email adds an e-mail that has failed three times and is tried again in a minute, or not at all if it is dead.
func (f *fixture) email(template string, dead bool) string {
	f.t.Helper()
	now := f.core.DB.Now()
	id := uid.New(now)
	testenv.Must(f.core.DB.Exec(f.t.Context(), emailInsert, id, template, now.UnixMilli(),
		now.Add(time.Minute).UnixMilli(), sqldb.Flag(dead)))(f.t)
	return id
}

// Operators see e-mails that wait or failed, without their content and without the whole address, and send one again. A
// code is not sent again, because it was deleted.
func TestSystem_mail(t *testing.T) {
	f := newFixture(t)
	failed, code, waits := f.email("order_paid", true), f.email("verify", true), f.email("order_ready", false)
	type list struct {
		Items []systemEmail
		Total int64
	}
	emails := func(query string) (l list) {
		t.Helper()
		r := f.must(f.ask("owner", "GET", "/api/system/mail"+query, ""))
		if strings.Contains(string(r.body), "lan@") || strings.Contains(string(r.body), "secret") {
			t.Errorf("the list shows an address or a code: %s", r.body)
		}
		r.into(t, &l)
		return l
	}
	all := emails("")
	if all.Total != 3 || len(all.Items) != 3 {
		t.Fatalf("e-mails = %+v, want 3", all)
	}
	want := systemEmail{
		ID: failed, State: "FAILED", Recipient: "l…@guests.example", Template: "order_paid", Locale: "vi", BranchID: "1",
		OrderID: "o1", Attempts: 3, Reason: "550 5.1.1", CanSendAgain: true,
	}
	testenv.Equal(t, all.Items[2], want)
	if all.Items[0].ID != waits || all.Items[1].ID != code || all.Items[1].CanSendAgain || !all.Items[0].CanSendAgain {
		t.Errorf("e-mails = %+v, want the newest first, and no code to be sent again", all.Items)
	}
	for query, total := range map[string]int64{"?state=FAILED": 2, "?state=WAITING": 1, "?page=2&size=2": 3} {
		if l := emails(query); l.Total != total {
			t.Errorf("%s: %d, want %d", query, l.Total, total)
		}
	}

	for id, status := range map[string]int{failed: 204, waits: 204, code: http.StatusConflict, "x": http.StatusNotFound} {
		if r := f.ask("admin", "POST", "/api/system/mail/"+id+"/send-again", ""); r.status != status {
			t.Errorf("send %s again: %d %s, want %d", id, r.status, r.body, status)
		}
	}
	if l := emails("?state=WAITING"); l.Total != 2 {
		t.Errorf("%d e-mails wait, want 2", l.Total)
	}
	// Both are due at once. The failed one has all its attempts and another day; the other one keeps what it had.
	claimed := map[string]mail.QueuedMessage{}
	now := f.core.DB.Now()
	for _, m := range testenv.Must(mailsql.New(f.core.DB).Claim(t.Context(), now, now.Add(time.Minute), 10))(t) {
		claimed[m.ID] = m
	}
	if len(claimed) != 2 || claimed[failed].Attempts != 1 || claimed[waits].Attempts != 4 ||
		claimed[failed].Expires.Before(now.Add(23*time.Hour)) || claimed[waits].Expires.After(now.Add(time.Hour)) {
		t.Errorf("due e-mails = %+v", claimed)
	}
	var log struct {
		Items []struct{ Actor, Subject string }
		Total int
	}
	f.must(f.ask("owner", "GET", "/api/audit?action="+audit.ActionMailAgain, "")).into(t, &log)
	if log.Total != 2 || !strings.HasPrefix(log.Items[0].Subject, "mail:") {
		t.Errorf("audit log = %+v, want both e-mails", log)
	}
}

// systemEmail is an e-mail of the list, without its times.
type systemEmail struct {
	ID, State, Recipient, Template, Locale, BranchID, OrderID string
	Attempts                                                  int
	Reason                                                    string
	CanSendAgain                                              bool
}
