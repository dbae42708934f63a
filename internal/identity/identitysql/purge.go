package identitysql

import (
	"context"
	"time"

	"comanda/internal/identity"
	"comanda/internal/sqldb"
)

// purgeLimit is how many rows go with one statement, so that none holds others up for long.
const purgeLimit = 5000

// Purge forgets what is no longer needed at an instant. Any number of processes may do so.
func (s *Accounts) Purge(ctx context.Context, now time.Time) error {
	at := identity.PurgeAt(now)
	for _, p := range []struct {
		q      *sqldb.Stmt
		before time.Time
	}{{revocationPurge, at.Revocations}, {spentPurge, at.Spent}, {sessionPurge, at.Sessions}} {
		for {
			n, err := s.db.Exec(ctx, p.q, p.before.UnixMilli(), purgeLimit)
			if err != nil {
				return err
			}
			if n < purgeLimit {
				break
			}
		}
	}
	for _, q := range []*sqldb.Stmt{capPurge, otpPurge} {
		if _, err := s.db.Exec(ctx, q, at.Counts.UnixMilli()); err != nil {
			return err
		}
	}
	return nil
}
