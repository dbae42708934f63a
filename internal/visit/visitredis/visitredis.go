// Package visitredis remembers in Redis which visit a customer token belongs to.
//
// Two keys say so together: visit:byCustomer leads from a token to its visit, and visit:customers holds the tokens of a
// visit. Both must agree, so that closing a visit is one deletion, whatever the number of its guests: what is left under
// visit:byCustomer is believed by nobody and runs out.
//
// What a token leads to is sealed with a key that is not in Redis, together with the instant until which it is believed.
// So who can write to Redis can neither make a guest nor keep one for longer than SQL would let them read.
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

// Bind remembers a guest for life, to be believed until an instant.
func (b *Bindings) Bind(
	ctx context.Context, token string, g visit.Guest, life time.Duration, until time.Time,
) error {
	key, party := keyspace.VisitByCustomer(token), keyspace.VisitCustomers(g.VisitID)
	value := strings.Join([]string{
		g.VisitID, strconv.FormatInt(g.BranchID, 10), strconv.FormatInt(g.TableID, 10),
		strconv.FormatInt(until.UnixMilli(), 10),
	}, "|")
	_, err := b.db.DoMulti(ctx,
		redisdb.Command("SADD", party, keyspace.Secret(token)),
		redisdb.Command("PEXPIRE", party, millis(partyLife)),
		redisdb.Command("SET", key, value+"|"+b.db.Seal(key, value), "PX", millis(life)))
	return err
}

// Find gives the guest of a token if both keys agree, and lets both live on.
func (b *Bindings) Find(
	ctx context.Context, token string, now time.Time, life func(branch int64) time.Duration,
) (visit.Guest, bool, error) {
	key := keyspace.VisitByCustomer(token)
	value, found, err := b.db.Do(ctx, "GET", key).Text()
	if err != nil || !found {
		return visit.Guest{}, false, err
	}
	g, until, ok := b.parse(key, value)
	if !ok || !now.Before(until) {
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

// parse reads what Bind has written for a key; ok is false for everything else.
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
