package audit_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/audit"
	"comanda/internal/authz"
)

// hashOf returns the hash of an entry by the rule of the first releases, which had no address.
func hashOf(e audit.Entry) string {
	var b strings.Builder
	for _, s := range []string{
		fmt.Sprint(e.Seq), fmt.Sprint(e.At.UnixMilli()), fmt.Sprint(e.Branch), e.Actor, e.Action, e.Subject, e.RequestID,
		e.Before, e.After, e.PrevHash,
	} {
		fmt.Fprintf(&b, "%d:%s", len(s), s)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// Entries without an address keep the hash of earlier releases; an address is part of the hash.
func TestEntry_Chained(t *testing.T) {
	actor := authz.Actor{Kind: authz.Account, UserID: 7, Request: "a request"}
	old := audit.NewEntry(actor, time.UnixMilli(1000), audit.ActionQuotaSet, "item", "3", 1).WithAfter(5).Chained(1, "before")
	if old.Address != "" || old.Hash != hashOf(old) {
		t.Errorf("%+v: the hash changed", old)
	}
	actor.Address = "192.0.2.7"
	e := audit.NewEntry(actor, time.UnixMilli(1000), audit.ActionQuotaSet, "item", "3", 1).WithAfter(5).Chained(1, "before")
	moved := e
	moved.PrevHash += fmt.Sprintf("%d:%s", len(e.Address), e.Address)
	if e.Address != actor.Address || e.Hash == old.Hash || e.Hash == hashOf(moved) {
		t.Errorf("the hash of %+v does not cover its address", e)
	}
}

// log is an audit log that a test reads.
type log struct {
	written []audit.Entry
	err     error
}

func (l *log) write(_ context.Context, all ...audit.Entry) error {
	if l.err == nil {
		l.written = append(l.written, all...)
	}
	return l.err
}

// flush returns the entries of the next Flush, as "account from address: details".
func (l *log) flush(t *testing.T, i *audit.Incidents) (lines []string) {
	t.Helper()
	l.written = nil
	testenv.ErrorIs(t, l.err, i.Flush(t.Context(), l.write))
	for _, e := range l.written {
		lines = append(lines, e.Subject+" from "+e.Address+": "+e.After)
	}
	return lines
}

// Equal incidents share an entry at once and then every ten minutes. A failed write loses nothing.
func TestIncidents(t *testing.T) {
	now, l := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC), &log{}
	clock := func() time.Time { return now }
	i := &audit.Incidents{Now: clock}
	note := func(subject, address string) { i.Add("anonymous", audit.ActionLoginFailed, subject, address) }
	want := func(what string, want ...string) {
		t.Helper()
		if got := l.flush(t, i); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("nothing")
	note("user:7", "192.0.2.7")
	note("user:7", "192.0.2.7")
	now = now.Add(time.Second)
	note("user:8", "2001:db8::1")
	l.err = errors.New("down")
	want("while the log is out of reach")
	l.err = nil
	note("user:8", "2001:db8::1")
	want("at once", `user:7 from 192.0.2.7: {"count":2,"since":"2026-02-26T05:00:00Z"}`,
		`user:8 from 2001:db8::1: {"count":2,"since":"2026-02-26T05:00:01Z"}`)
	if e := l.written[0]; e.Actor != "anonymous" || e.Action != audit.ActionLoginFailed || !e.At.Equal(now) {
		t.Errorf("first entry = %+v, want a failed login of anonymous at %v", e, now)
	}
	for range 3 {
		now = now.Add(time.Minute)
		note("user:7", "192.0.2.7")
		note("user:7", "192.0.2.9")
		want("again within ten minutes")
	}
	note("user:7", "192.0.2.9")
	now = now.Add(7 * time.Minute)
	want("after ten minutes", `user:7 from 192.0.2.9: {"count":7,"since":"2026-02-26T05:01:01Z",`+
		`"addresses":{"192.0.2.7":3,"192.0.2.9":4}}`)
	now = now.Add(time.Hour)
	want("later")
	(*audit.Incidents)(nil).Add("a", "b", "c", "d")
}

// A flood writes twenty entries per minute in bounded memory. It does not delay the record of another action, and
// guesses at one account from many addresses are one entry.
func TestIncidents_flood(t *testing.T) {
	now, l := time.Date(2026, 2, 26, 5, 0, 0, 0, time.UTC), &log{}
	clock := func() time.Time { return now }
	i := &audit.Incidents{Now: clock}
	written := 0
	for minute := range 3 {
		for n := range 11_000 {
			i.Add("anonymous", audit.ActionLoginFailed, fmt.Sprint("user:", minute, n), "192.0.2.7")
		}
		for range 12 {
			written += len(l.flush(t, i))
			now = now.Add(5 * time.Second)
		}
	}
	if written < 60 || written > 80 {
		t.Errorf("%d entries in three minutes", written)
	}
	i.Add("user:7", audit.ActionDenied, "route:GET /api/users", "192.0.2.7")
	if got := l.flush(t, i); !slices.ContainsFunc(l.written, func(e audit.Entry) bool { return e.Action == audit.ActionDenied }) {
		t.Errorf("a refused request waits behind the flood: %q", got)
	}

	i = &audit.Incidents{Now: clock}
	for n := range 1000 {
		i.Add("anonymous", audit.ActionLoginFailed, "user:7", fmt.Sprint("192.0.2.", n))
	}
	got := l.flush(t, i)
	if len(got) != 1 || !strings.Contains(got[0], `{"count":1000,`) || !strings.Contains(got[0], `"others":980}`) || len(got[0]) > 1000 {
		t.Errorf("flushed = %q, want one short entry of 1000 attempts, 980 from other addresses", got)
	}
}
