// Package visitredis caches in Redis which visit a customer token belongs to.
//
// Two keys must agree: visit:byCustomer maps a token to its visit, and visit:customers is the set of a visit's tokens.
// Closing a visit therefore deletes one key, whatever the number of its guests; the remaining visit:byCustomer keys
// are ignored and expire.
//
// The value of visit:byCustomer, which includes its expiry, is sealed with a key that is not in Redis. So write access
// to Redis allows neither creating a guest nor extending one.
package visitredis

import (
	"context"
	"strconv"
	"strings"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/seq"
	"comanda/internal/uid"
	"comanda/internal/visit"
)

// customersTTL is the TTL of the set of a visit's tokens, renewed at each use. A visit that is unused for so long is
// normally closed as idle; if it is still open, its guests are read from SQL.
const customersTTL = 8 * time.Hour

// Bindings implements visit.Bindings in Redis.
type Bindings struct{ db *redisdb.DB }

// New returns bindings on a connection.
func New(db *redisdb.DB) *Bindings { return &Bindings{db} }

// Bind stores a guest with a TTL, valid until an instant.
func (b *Bindings) Bind(
	ctx context.Context, token string, g visit.Guest, life time.Duration, until time.Time,
) error {
	key, customers := keyspace.VisitByCustomer(token), keyspace.VisitCustomers(g.VisitID)
	// None of the fields contains the separator: an id of package uid and numbers.
	value := strings.Join([]string{
		g.VisitID, strconv.FormatInt(g.BranchID, 10), strconv.FormatInt(g.TableID, 10),
		strconv.FormatInt(until.UnixMilli(), 10),
	}, "|")
	_, err := b.db.DoMulti(ctx,
		redisdb.Command("SADD", customers, keyspace.Secret(token)),
		redisdb.Command("PEXPIRE", customers, millis(customersTTL)),
		redisdb.Command("SET", key, value+"|"+b.db.Seal(key, value), "PX", millis(life)))
	return err
}

// Find returns the guest of a token if both keys agree, and renews the TTL of both.
func (b *Bindings) Find(
	ctx context.Context, token string, now time.Time, life func(branch int64) time.Duration,
) (visit.Guest, bool, error) {
	key := keyspace.VisitByCustomer(token)
	value, found, err := b.db.Do(ctx, "GET", key).Text()
	if err != nil || !found {
		return visit.Guest{}, false, err
	}
	g, until, ok := b.parse(key, value)
	if left := until.Sub(now); !ok || left <= 0 || left > visit.BindingValid {
		return visit.Guest{}, false, nil
	}
	// The name of the second key is in the value of the first, so the two reads cannot share a round trip.
	customers := keyspace.VisitCustomers(g.VisitID)
	replies, err := b.db.DoMulti(ctx,
		redisdb.Command("SISMEMBER", customers, keyspace.Secret(token)),
		redisdb.Command("PEXPIRE", customers, millis(customersTTL)),
		redisdb.Command("PEXPIRE", key, millis(life(g.BranchID))))
	if err != nil {
		return visit.Guest{}, false, err
	}
	member, err := replies[0].Int()
	return g, member == 1 && err == nil, err
}

// parse decodes and verifies a value that Bind has written under the key.
func (b *Bindings) parse(key keyspace.Key, text string) (g visit.Guest, until time.Time, ok bool) {
	cut := max(0, len(text)-redisdb.SealChars-1)
	parts := strings.Split(text[:cut], "|")
	if len(parts) != 4 || !uid.Valid(parts[0]) || !b.db.Sealed(text[cut+1:], key, text[:cut]) {
		return g, until, false
	}
	branch, errBranch := strconv.ParseInt(parts[1], 10, 64)
	table, errTable := strconv.ParseInt(parts[2], 10, 64)
	end, errEnd := strconv.ParseInt(parts[3], 10, 64)
	g = visit.Guest{VisitID: parts[0], BranchID: branch, TableID: table, VisitOpen: true}
	return g, time.UnixMilli(end), errBranch == nil && errTable == nil && errEnd == nil
}

// Unbind removes all guests of visits.
func (b *Bindings) Unbind(ctx context.Context, visits []string) error {
	// Each key has its own command, because in a Redis Cluster all keys of a command must be in one slot.
	_, err := b.db.DoMulti(ctx, seq.Map(visits, func(id string) redisdb.Cmd {
		return redisdb.Command("DEL", keyspace.VisitCustomers(id))
	})...)
	return err
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
