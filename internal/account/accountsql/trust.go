package accountsql

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"comanda/internal/account"
	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// Flags implements account.FlagStore.
func (s *UserAdmin) Flags(ctx context.Context, user int64, limit, offset int) ([]account.Flag, int64, error) {
	return sqldb.Page(ctx, s.db, scanFlag, stmt("flag_count"), stmt("flag_list"), limit, offset, user)
}

var scanFlag = sqldb.Row(func(f *account.Flag) []any {
	return []any{&f.ID, &f.User, &f.Kind, &f.OrderID, &f.Note, sqldb.Time(&f.CreatedAt), &f.CreatedBy}
})

// AddFlag implements account.FlagStore.
func (s *UserAdmin) AddFlag(ctx context.Context, by authz.Actor, f account.Flag, r account.TrustRules) error {
	return s.change(ctx, by, f.CreatedAt, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		u, err := d.target(ctx, f.User)
		switch {
		case err != nil:
			return err
		case u.Role != authz.RoleUser:
			return account.ErrFlagStaff
		}
		if f.OrderID != "" {
			n, err := sqldb.Scalar[int64](ctx, tx, stmt("flag_order"), f.OrderID, f.User)
			if err != nil {
				return err
			}
			if n == 0 {
				return account.ErrFlagOrder
			}
		}
		set, err := insertFlags(ctx, tx, []account.Flag{f}, f.CreatedAt)
		if err != nil {
			return err
		}
		if len(set) == 0 {
			return account.ErrFlagExists
		}
		return d.finishFlag(ctx, audit.ActionUserFlagged, f, r)
	})
}

// RemoveFlag implements account.FlagStore.
func (s *UserAdmin) RemoveFlag(
	ctx context.Context, by authz.Actor, user int64, id string, r account.TrustRules, now time.Time,
) error {
	return s.change(ctx, by, now, func(ctx context.Context, tx sqldb.Tx, d adminTx) error {
		if _, err := d.target(ctx, user); err != nil {
			return err
		}
		f, err := sqldb.Get(ctx, tx, account.ErrFlag, scanFlag, stmt("flag_delete"), id, user)
		if err != nil {
			return err
		}
		return d.finishFlag(ctx, audit.ActionUserUnflagged, f, r)
	})
}

// finishFlag computes the score of the account and writes the audit entry.
func (t adminTx) finishFlag(ctx context.Context, action string, f account.Flag, r account.TrustRules) error {
	if err := saveScores(ctx, t.Tx, []int64{f.User}, r, t.Now); err != nil {
		return err
	}
	score, err := sqldb.Scalar[int64](ctx, t.Tx, stmt("trust_score"), f.User)
	if err != nil {
		return err
	}
	return auditsql.Record(ctx, t.Tx, t.userEntry(action, f.User).WithAfter(auditedFlag{f.Kind, f.OrderID, f.Note, score}))
}

// auditedFlag is a flag in the audit log.
type auditedFlag struct {
	Kind       account.FlagKind `json:"kind"`
	OrderID    string           `json:"orderId,omitempty"`
	Note       string           `json:"note,omitempty"`
	TrustScore int64            `json:"trustScore"`
}

// insertFlags stores flags and returns the accounts of those that were not there before.
func insertFlags(ctx context.Context, tx sqldb.Tx, all []account.Flag, now time.Time) ([]int64, error) {
	return sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("flag_insert"), sqldb.NewRowSet(len(all)).
		Text("id", func(i int) string { return all[i].ID }).
		Int("user_id", func(i int) int64 { return all[i].User }).
		Text("kind", func(i int) string { return string(all[i].Kind) }).
		NullText("order_id", func(i int) (string, bool) { return all[i].OrderID, all[i].OrderID != "" }).
		Text("note", func(i int) string { return all[i].Note }).
		Text("created_by", func(i int) string { return all[i].CreatedBy }), now.UnixMilli())
}

// saveScores computes the scores of accounts that the transaction has locked, and queues the documents of those that
// changed. Flags that no longer count are deleted.
func saveScores(ctx context.Context, tx sqldb.Tx, users []int64, r account.TrustRules, now time.Time) error {
	ids, from := sqldb.IDs(users), r.Cutoff(now).UnixMilli()
	if _, err := tx.Exec(ctx, stmt("flag_purge"), ids, from); err != nil {
		return err
	}
	type flag struct {
		user int64
		kind account.FlagKind
	}
	found, err := sqldb.Collect(ctx, tx, sqldb.Row(func(f *flag) []any { return []any{&f.user, &f.kind} }),
		stmt("flag_kinds"), ids, from)
	if err != nil {
		return err
	}
	flags := map[int64][]account.FlagKind{}
	for _, f := range found {
		flags[f.user] = append(flags[f.user], f.kind)
	}
	changed, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("trust_save"), sqldb.NewRowSet(len(users)).
		Int("id", func(i int) int64 { return users[i] }).
		Int("score", func(i int) int64 {
			score, _ := r.Score(flags[users[i]])
			return int64(score)
		}).
		NullText("flags", func(i int) (string, bool) {
			_, kinds := r.Score(flags[users[i]])
			text, _ := json.Marshal(kinds) // texts always marshal
			return string(text), len(kinds) > 0
		}), now.UnixMilli())
	if err != nil {
		return err
	}
	documentsql.Changed(tx, now, userEntity, seq.Map(changed, func(id int64) string { return strconv.FormatInt(id, 10) })...)
	return nil
}

// flagPage is the number of accounts that one transaction of RefreshScores locks.
const flagPage = 200

// RefreshScores deletes the flags that no longer count and computes the scores of all accounts with flags, so that
// a changed rule reaches them. Any number of processes may run it.
func (s *UserAdmin) RefreshScores(ctx context.Context, r account.TrustRules, now time.Time) error {
	for after := int64(0); ; {
		page, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("flag_users"), after, flagPage)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1]
		err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			locked, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("trust_lock"), sqldb.IDs(page))
			if err != nil || len(locked) == 0 {
				return err
			}
			return saveScores(ctx, tx, locked, r, now)
		})
		if err != nil {
			return err
		}
	}
}

// Score returns the trust score of an account, or authz.ErrUser.
func (s *UserAdmin) Score(ctx context.Context, user int64) (int, error) {
	return sqldb.Get(ctx, s.db, authz.ErrUser, sqldb.Value[int], stmt("trust_score"), user)
}

// FollowExpiredOrders sets the flags of members' orders that have expired, and removes those of orders that have not: an
// expired order may be revived by a late payment. Both are members by order. Orders of staff are ignored.
func FollowExpiredOrders(
	ctx context.Context, tx sqldb.Tx, expired, others map[string]int64, r account.TrustRules, now time.Time,
) error {
	users := slices.AppendSeq(slices.Collect(maps.Values(expired)), maps.Values(others))
	slices.Sort(users)
	members, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("trust_lock"), sqldb.IDs(slices.Compact(users)))
	if err != nil || len(members) == 0 {
		return err
	}
	var changed []int64
	if len(others) > 0 {
		changed, err = sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("flag_remove_expired"), sqldb.IDs(members),
			sqldb.IDs(slices.Sorted(maps.Keys(others))))
		if err != nil {
			return err
		}
	}
	var flags []account.Flag
	for _, order := range slices.Sorted(maps.Keys(expired)) {
		if user := expired[order]; slices.Contains(members, user) {
			flags = append(flags, account.Flag{
				ID: uid.New(now), User: user, Kind: account.FlagExpiredOrder, OrderID: order, CreatedBy: "system",
			})
		}
	}
	if len(flags) > 0 {
		set, err := insertFlags(ctx, tx, flags, now)
		if err != nil {
			return err
		}
		changed = append(changed, set...)
	}
	// Most paid orders have had no flag. Their members keep the scores that they have, among them imported ones.
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	return saveScores(ctx, tx, slices.Compact(changed), r, now)
}
