package carttest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"comanda/internal/document"
	"comanda/internal/document/documentredis"
	"comanda/internal/document/documentsql"
	"comanda/internal/keyspace"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/redisdb"
	"comanda/internal/testenv"
)

// Documents is the documents of a restaurant in Redis.
type Documents struct {
	redis     *redisdb.DB
	sql       *documentsql.Store
	projector *document.Projector
}

// NewDocuments returns the documents of a restaurant. It queues the restaurant's own rows, which were inserted without
// outbox rows.
func NewDocuments(r *orderingtest.Restaurant, redis *redisdb.DB) *Documents {
	m := &Documents{redis: redis, sql: documentsql.New(r.DB)}
	m.projector = &document.Projector{Source: m.sql, Outbox: m.sql, Writer: documentredis.New(redis), Now: r.DB.Now}
	m.projector.Touch(document.Ref{Entity: document.Category, ID: strconv.FormatInt(r.Branch, 10)})
	for _, dish := range r.Items {
		m.projector.Touch(document.Ref{Entity: document.Dish, ID: strconv.FormatInt(dish, 10)})
	}
	return m
}

// Verify projects the changes and compares all documents with SQL in both directions.
func (m *Documents) Verify(t testenv.TB) {
	t.Helper()
	ctx := context.Background()
	testenv.NoError(t, m.projector.RunOnce(ctx))
	v := &document.Verifier{Source: m.sql, Mirror: documentredis.New(m.redis), Pause: m.projector.RunOnce}
	found, err := v.Verify(ctx)
	if err != nil || !found.Clean {
		t.Fatal(err, found.Found, found.Samples)
	}
}

// Get reads a key: a string, or the members of a set, shortest first, separated by commas. missing is true if there is
// none.
func (m *Documents) Get(t testenv.TB, key string) (value string, missing bool) {
	t.Helper()
	k, ok := keyspace.ParseDocument(key)
	if !ok {
		t.Fatal(key + " is not declared")
	}
	if k.Key.Decl().Type == keyspace.Set {
		members := testenv.Must(m.redis.Do(context.Background(), "SMEMBERS", k.Key).Texts())(t)
		slices.SortFunc(members, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
		return strings.Join(members, ","), len(members) == 0
	}
	value, found := testenv.Must2(m.redis.Do(context.Background(), "GET", k.Key).Text())(t)
	return value, !found
}
