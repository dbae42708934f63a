package documentsql

import (
	"context"
	"time"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

// Generation implements document.GenerationStore.
func (s *Store) Generation(ctx context.Context) (document.GenerationState, error) {
	p, found, err := s.generation(ctx)
	if err != nil || found {
		return p, err
	}
	// The first process creates the only row; the conflict of a second one is ignored.
	if _, err := s.db.Exec(ctx, stmt("generation_ensure")); err != nil {
		return p, err
	}
	p, _, err = s.generation(ctx)
	return p, err
}

func (s *Store) generation(ctx context.Context) (document.GenerationState, bool, error) {
	return sqldb.One(ctx, s.db, func(r sqldb.Rows) (p document.GenerationState, err error) {
		var entity string
		var claimed int64
		err = r.Scan(&p.Epoch, &p.Server, &p.Building, &p.BuildingServer, &entity, &p.After, &claimed)
		p.Entity, p.ClaimedUntil = document.ByName(entity), time.UnixMilli(claimed).UTC()
		return p, err
	}, stmt("generation_select"))
}

// Invalidate clears the epoch if it is still the one that the caller has read.
func (s *Store) Invalidate(ctx context.Context, epoch string) error {
	_, err := s.db.Exec(ctx, stmt("generation_invalidate"), epoch)
	return err
}

// ClaimBuild starts a rebuild, or continues one whose builder has died; ok is false if another process was faster.
func (s *Store) ClaimBuild(ctx context.Context, seen, next document.GenerationState, now time.Time) (ok bool, err error) {
	n, err := s.db.Exec(ctx, stmt("generation_claim"), seen.Building, next.Building, next.BuildingServer, nameOf(next.Entity),
		next.After, next.ClaimedUntil.UnixMilli(), now.UnixMilli())
	return n == 1, err
}

// nameOf returns the stored name of a rebuild's position, empty for none.
func nameOf(e *document.Entity) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// SaveProgress saves the position of a rebuild and renews its claim; ok is false if another process has taken it
// over.
func (s *Store) SaveProgress(ctx context.Context, p document.GenerationState) (ok bool, err error) {
	n, err := s.db.Exec(ctx, stmt("generation_progress"), p.Building, nameOf(p.Entity), p.After, p.ClaimedUntil.UnixMilli())
	return n == 1, err
}

// FinishBuild makes a rebuild the current epoch.
func (s *Store) FinishBuild(ctx context.Context, building string) (ok bool, err error) {
	n, err := s.db.Exec(ctx, stmt("generation_finish"), building)
	return n == 1, err
}

// AbandonBuild drops a rebuild.
func (s *Store) AbandonBuild(ctx context.Context, building string) error {
	_, err := s.db.Exec(ctx, stmt("generation_abandon"), building)
	return err
}
