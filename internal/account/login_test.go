package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/audit"
	"comanda/internal/document"
	"comanda/internal/document/documentsql"
	"comanda/internal/testenv"
)

// A failed login is recorded with account and address.
func TestLogin_failures_are_incidents(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		var written []audit.Entry
		flush := func() []audit.Entry {
			written = nil
			testenv.NoError(t, h.Incidents.Flush(t.Context(), func(_ context.Context, all ...audit.Entry) error {
				written = append(written, all...)
				return nil
			}))
			return written
		}
		h.Incidents = &audit.Incidents{Now: h.Clock.Now}
		h.CreateMember(t, lan)
		cookie := mustLoginWithDevice(t, h, "", lan, accounttest.Password)
		for _, try := range []struct{ cookie, email, want string }{
			{"", lan, "user:1"}, {"", "nobody@example.com", "user:unknown"}, {cookie, lan, "user:1"},
		} {
			if _, err := loginWithDevice(t, h, try.cookie, try.email, "something else"); !errors.Is(err, account.ErrLogin) {
				t.Fatal(err)
			}
			if got := flush(); len(got) != 1 || got[0].Subject != try.want || got[0].Address != "192.0.2.7" {
				t.Errorf("incidents after the login of %s = %+v, want one of %s from 192.0.2.7", try.email, got, try.want)
			}
			h.Clock.Advance(time.Hour)
			flush()
		}
	})
}

// A login stores its time in the account and in its document, and leaves the version, so that an edit which is open in
// the console does not fail. Refreshing the session is not a login.
func TestLogin_stores_its_time(t *testing.T) {
	each(t, func(t *testing.T, h *accounttest.Env) {
		read := func() (account.User, string) {
			t.Helper()
			docs := testenv.Must(documentsql.New(h.DB).Read(t.Context(), document.User, []string{"1"}))(t)
			in, _ := document.PeekField(docs[0].JSON, "lastLogin")
			return testenv.Must(h.Store.User(t.Context(), 1))(t), in
		}
		h.CreateMember(t, lan)
		before, in := read()
		if !before.LastLogin.IsZero() || in != "" {
			t.Errorf("before the first login: %v, in the document %s", before.LastLogin, in)
		}
		h.Clock.Advance(time.Minute)
		at := h.Clock.Now()
		tokens := h.MustLogin(t, lan)
		h.Clock.Advance(time.Minute)
		testenv.Must(h.Refresh(t.Context(), tokens.Refresh))(t)
		after, in := read()
		if !after.LastLogin.Equal(at) || !tokens.User.LastLogin.Equal(at) || in != at.UTC().Format("2006-01-02T15:04:05.000Z") {
			t.Errorf("LastLogin %v, of the login %v, in the document %s, want %v", after.LastLogin, tokens.User.LastLogin, in, at)
		}
		if after.Version != before.Version || !after.UpdatedAt.Equal(before.UpdatedAt) {
			t.Errorf("a login changed the version from %d to %d", before.Version, after.Version)
		}
	})
}
