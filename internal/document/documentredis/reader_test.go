package documentredis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/document"
	"comanda/internal/document/documenttest"
	"comanda/internal/fault"
	"comanda/internal/testenv"
)

// countingSource is a Source that counts the queries to SQL.
type countingSource struct {
	document.Source
	n int
}

func (a *countingSource) Read(ctx context.Context, e *document.Entity, ids []string) ([]document.Document, error) {
	a.n++
	return a.Source.Read(ctx, e, ids)
}

func (a *countingSource) Owners(
	ctx context.Context, e *document.Entity, x *document.Index, values []string,
) (map[string]string, error) {
	a.n++
	return a.Source.Owners(ctx, e, x, values)
}

func (a *countingSource) Find(
	ctx context.Context, e *document.Entity, where []document.Where, offset, limit int,
) ([]string, int, error) {
	a.n++
	return a.Source.Find(ctx, e, where, offset, limit)
}

// warmReader returns a reader of complete documents in Redis, with a counter of its queries to SQL.
func warmReader(t *testing.T, r *fixture) (*document.Reader, *countingSource) {
	t.Helper()
	fill(t, r, orderID(1))
	testenv.NoError(t,
		r.data.PutUser(t.Context(), documenttest.User{ID: 457, Username: "chi", Email: "chi@example.com", Role: 1, Province: "Riyadh", City: "Hue"}),
		r.data.PutUser(t.Context(), documenttest.User{ID: 458, Role: 1, Province: "riyadh", City: "RIYADH", Registered: true}))
	r.project(t)
	r.reconcile(t)
	r.wantUsable(t, true)
	sql := &countingSource{Source: r.sql}
	return &document.Reader{Source: sql, Cache: r.store, State: r.generation, Repair: r.projector.Touch}, sql
}

func idsOf(docs []document.Document) []string {
	ids := make([]string, len(docs))
	for i, d := range docs {
		if id, _ := document.PeekField(d.JSON, "id"); id != d.ID {
			ids[i] = fmt.Sprintf("%s under %s", id, d.ID)
		} else {
			ids[i] = d.ID
		}
	}
	return ids
}

// Complete documents are read from Redis alone, by id and by every unique index, ignoring case.
func TestReader_warm(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		reader, sql := warmReader(t, r)
		docs := testenv.Must(reader.GetMany(t.Context(), document.User, []string{"458", "456", "nonsense", "457"}))(t)
		testenv.Equal(t, []string{"458", "456", "457"}, idsOf(docs))
		for index, value := range map[string]string{
			"email": " User@Example.COM", "username": "JohnDoe", "phone": "+966501234567", "device": "device-123", "google": "1076",
		} {
			d, found, err := reader.FindUnique(t.Context(), document.User, index, value)
			if err != nil || !found || d.ID != "456" {
				t.Errorf("by %s: %v %v %v", index, d.ID, found, err)
			}
		}
		for e, want := range map[*document.Entity][3]string{
			document.Role: {"name", "ADMIN", "1"}, document.Cart: {"user", "456", "123"},
			document.Order: {"paymentRef", "VNPAY123", valueOf(t, r.store, "user:456:orders")},
		} {
			if d, _, err := reader.FindUnique(t.Context(), e, want[0], want[1]); err != nil || d.ID != want[2] {
				t.Errorf("%s by %s: %q, %v", e.Name, want[0], d.ID, err)
			}
		}
		if sql.n != 0 {
			t.Errorf("SQL was asked %d times", sql.n)
		}
	})
}

// A missing key in Redis does not prove that a document is missing.
func TestReader_absent(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		reader, _ := warmReader(t, r)
		if _, found, err := reader.Get(t.Context(), document.User, "9"); err != nil || found {
			t.Error(found, err)
		}
		for _, value := range []string{"nobody@example.com", "", "  "} {
			if _, found, err := reader.FindUnique(t.Context(), document.User, "email", value); err != nil || found {
				t.Errorf("FindUnique(%q): found %v, error %v, want nothing", value, found, err)
			}
		}
		for _, call := range []func() error{
			func() error { _, _, err := reader.FindUnique(t.Context(), document.User, "city", "hue"); return err },
			func() error { _, _, err := reader.FindUnique(t.Context(), document.User, "shoe", "44"); return err },
			func() error {
				_, _, err := reader.Find(t.Context(), document.User, document.Filter{"email": "x"}, document.Page{Limit: 1})
				return err
			},
		} {
			if err := call(); !errors.Is(err, fault.New(fault.Internal, "no_index", "")) {
				t.Errorf("an index that is not there: %v", err)
			}
		}
	})
}

// Documents that Redis has lost or stores wrongly are read from SQL and repaired.
func TestReader_repairs(t *testing.T) {
	byEmail := func(t *testing.T, reader *document.Reader) string {
		d, _ := testenv.Must2(reader.FindUnique(t.Context(), document.User, "email", "user@example.com"))(t)
		return d.ID
	}
	byID := func(t *testing.T, reader *document.Reader) string {
		d, _ := testenv.Must2(reader.Get(t.Context(), document.User, "456"))(t)
		return d.ID
	}
	const email = "user:index:email:user@example.com"
	cases := map[string]struct {
		corruption [][]string
		read       func(*testing.T, *document.Reader) string
		want       map[string]string
	}{
		"document lost":                    {[][]string{{"DEL", "user:456"}}, byID, map[string]string{"user:456": "v1"}},
		"document lost behind its index":   {[][]string{{"DEL", "user:456"}}, byEmail, map[string]string{"user:456": "v1"}},
		"document of another type":         {[][]string{{"DEL", "user:456"}, {"SADD", "user:456", "x"}}, byEmail, map[string]string{"user:456": "v1"}},
		"index lost":                       {[][]string{{"DEL", email}}, byEmail, map[string]string{email: "456"}},
		"index leads to another":           {[][]string{{"SET", email, "457"}}, byEmail, map[string]string{email: "456"}},
		"index without a document":         {[][]string{{"SET", email, "999"}}, byEmail, map[string]string{email: "456"}},
		"index leads to what is not an id": {[][]string{{"SET", email, "x y"}}, byEmail, map[string]string{email: "456"}},
		"index of another type":            {[][]string{{"DEL", email}, {"SADD", email, "x"}}, byEmail, map[string]string{email: "456"}},
		"document no longer has the value": {[][]string{{"SET", "user:456", `{"id":"456","email":"x","version":1}`}}, byEmail, map[string]string{email: "456"}},
	}
	each(t, func(t *testing.T, r *fixture) {
		reader, sql := warmReader(t, r)
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				sql.n = 0
				sendRaw(t, r, c.corruption...)
				if id := c.read(t, reader); id != "456" || sql.n == 0 {
					t.Errorf("read %q with %d questions to SQL", id, sql.n)
				}
				r.project(t)
				wantKeys(t, r.store, c.want)
				r.wantClean(t)
			})
		}
	})
}

// A wrong member of a set is left out and removed. A missing one is restored.
func TestReader_repairs_sets(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		reader, _ := warmReader(t, r)
		sendRaw(t, r, []string{"SADD", "user:list", "999"}, []string{"SADD", "user:index:city:riyadh", "457"})
		docs, _, err := reader.Find(t.Context(), document.User, document.Filter{"city": "riyadh"}, document.Page{Limit: 10})
		if d := cmp.Diff([]string{"456", "458"}, idsOf(docs)); err != nil || d != "" {
			t.Error(err, d)
		}
		docs, _, err = reader.Find(t.Context(), document.User, nil, document.Page{Limit: 10})
		if d := cmp.Diff([]string{"456", "457", "458"}, idsOf(docs)); err != nil || d != "" {
			t.Error(err, d)
		}
		r.project(t)
		wantKeys(t, r.store, map[string]string{"user:list": "456,457,458"})
	})
}

// Redis and SQL combine and page filters in the same way.
func TestReader_finds(t *testing.T) {
	questions := []struct {
		filter document.Filter
		want   []string
	}{
		{nil, []string{"456", "457", "458"}},
		{document.Filter{"province": "Riyadh"}, []string{"456", "457", "458"}},
		{document.Filter{"province": "RIYADH", "city": " riyadh "}, []string{"456", "458"}},
		{document.Filter{"province": "Riyadh", "city": "Riyadh", "registered": "no"}, []string{"456"}},
		{document.Filter{"registered": "yes"}, []string{"458"}},
		{document.Filter{"city": "hue", "registered": "no"}, []string{"457"}},
		{document.Filter{"city": "nowhere"}, []string{}},
		{document.Filter{"city": ""}, []string{}},
		{document.Filter{"registered": "perhaps"}, []string{}},
	}
	each(t, func(t *testing.T, r *fixture) {
		reader, sql := warmReader(t, r)
		for _, warm := range []bool{true, false} {
			if sql.n = 0; !warm {
				r.generation.Invalidate()
			}
			for _, q := range questions {
				for offset := range len(q.want) + 2 {
					docs, total, err := reader.Find(t.Context(), document.User, q.filter, document.Page{Offset: offset, Limit: 2})
					want := q.want[min(offset, len(q.want)):]
					want = want[:min(2, len(want))]
					if d := cmp.Diff(want, idsOf(docs)); err != nil || total != len(q.want) || d != "" {
						t.Errorf("warm %v, %v from %d: %d in all, %v; (-want +got):\n%s", warm, q.filter, offset, total, err, d)
					}
				}
			}
		}
	})
}

// While Redis is down or incomplete, readers use SQL without waiting.
func TestReader_cold(t *testing.T) {
	each(t, func(t *testing.T, r *fixture) {
		reader, sql := warmReader(t, r)
		look := func(t *testing.T) {
			t.Helper()
			sql.n = 0
			d, found, err := reader.FindUnique(t.Context(), document.User, "email", "chi@example.com")
			if err != nil || !found || d.ID != "457" || d.JSON == "" {
				t.Error(d, found, err)
			}
			docs, total, err := reader.Find(t.Context(), document.CartDetail, document.Filter{"cart": "123"}, document.Page{Limit: 5})
			if err != nil || total != 2 || !slices.Equal(idsOf(docs), []string{"456", "457"}) {
				t.Error(idsOf(docs), total, err)
			}
			if sql.n < 2 {
				t.Errorf("SQL was asked %d times", sql.n)
			}
		}
		r.generation.Invalidate()
		look(t)
		r.reconcile(t)
		flush(t, r) // not detected yet
		look(t)
		if r.server == nil {
			return
		}
		r.server.Kill()
		look(t)
		r.project(t) // later
		r.reconcile(t)
		r.wantUsable(t, false)
	})
}
