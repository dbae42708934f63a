package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"comanda/internal/account"
	"comanda/internal/account/accounttest"
	"comanda/internal/audit"
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
