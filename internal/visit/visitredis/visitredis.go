// Package visitredis remembers in Redis which visit a customer token belongs to.
//
// Two keys say so together: visit:byCustomer leads from a token to its visit, and visit:customers holds the tokens of a
// visit. Both must agree, so that closing a visit is one deletion, whatever the number of its guests: what is left under
// visit:byCustomer is believed by nobody and runs out.
package visitredis

import (
	"context"
	"strconv"
	"strings"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/uid"
	"comanda/internal/visit"
)

// partyLife is how long the set of a visit's guests lives after its last use. A party that stays longer without a sign
// of life has been closed; one that has not is found in SQL.
const partyLife = 8 * time.Hour

// Bindings is visit.Bindings in Redis.
type Bindings struct{ db *redisdb.DB }

// New makes bindings on a connection.
func New(db *redisdb.DB) *Bindings { return &Bindings{db} }

// Bind remembers a guest for life.
func (b *Bindings) Bind(ctx context.Context, token string, g visit.Guest, life time.Duration) error {
	party := keyspace.VisitCustomers(g.VisitID)
	value := g.VisitID + "|" + strconv.FormatInt(g.BranchID, 10) + "|" + strconv.FormatInt(g.TableID, 10)
	_, err := b.db.DoMulti(ctx,
		redisdb.Command("SADD", party, keyspace.Secret(token)),
		redisdb.Command("PEXPIRE", party, millis(partyLife)),
		redisdb.Command("SET", keyspace.VisitByCustomer(token), value, "PX", millis(life)))
	return err
}

// Find gives the guest of a token if both keys agree, and lets both live on.
func (b *Bindings) Find(
	ctx context.Context, token string, life func(branch int64) time.Duration,
) (visit.Guest, bool, error) {
	key := keyspace.VisitByCustomer(token)
	value, found, err := b.db.Do(ctx, "GET", key).Text()
	if err != nil || !found {
		return visit.Guest{}, false, err
	}
	g, ok := parse(value)
	if !ok {
		return visit.Guest{}, false, nil
	}
	party := keyspace.VisitCustomers(g.VisitID)
	replies, err := b.db.DoMulti(ctx,
		redisdb.Command("SISMEMBER", party, keyspace.Secret(token)),
		redisdb.Command("PEXPIRE", party, millis(partyLife)),
		redisdb.Command("PEXPIRE", key, millis(life(g.BranchID))))
	if err != nil {
		return visit.Guest{}, false, err
	}
	member, err := replies[0].Int()
	return g, member == 1 && err == nil, err
}

func parse(value string) (g visit.Guest, ok bool) {
	parts := strings.Split(value, "|")
	if len(parts) != 3 || !uid.Valid(parts[0]) {
		return g, false
	}
	branch, errBranch := strconv.ParseInt(parts[1], 10, 64)
	table, errTable := strconv.ParseInt(parts[2], 10, 64)
	g = visit.Guest{VisitID: parts[0], BranchID: branch, TableID: table, VisitOpen: true}
	return g, errBranch == nil && errTable == nil
}

// Unbind forgets all guests of visits.
func (b *Bindings) Unbind(ctx context.Context, visits []string) error {
	commands := make([]redisdb.Cmd, len(visits))
	for i, id := range visits {
		commands[i] = redisdb.Command("DEL", keyspace.VisitCustomers(id))
	}
	_, err := b.db.DoMulti(ctx, commands...)
	return err
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
