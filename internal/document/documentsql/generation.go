package documentsql

import (
	"context"
	"time"

	"comanda/internal/document"
	"comanda/internal/sqldb"
)

// Plane gives what is known about the documents in Redis.
func (s *Store) Generation(ctx context.Context) (document.GenerationState, error) {
	p, found, err := s.generation(ctx)
	if err != nil || found {
		return p, err
	}
	if _, err := s.db.Exec(ctx, planeEnsure); err != nil {
		return p, err
	}
	p, _, err = s.generation(ctx)
	return p, err
}

func (s *Store) generation(ctx context.Context) (document.GenerationState, bool, error) {
	rows, err := s.db.Query(ctx, planeSelect)
	return sqldb.One(rows, err, func(r sqldb.Rows) (p document.GenerationState, err error) {
		var entity string
		var claimed int64
		err = r.Scan(&p.Epoch, &p.Server, &p.Building, &p.BuildingServer, &entity, &p.After, &claimed)
		p.Entity, p.ClaimedUntil = document.ByName(entity), time.UnixMilli(claimed).UTC()
		return p, err
	})
}

// Doubt makes the plane cold if it still has the epoch that the caller has seen.
func (s *Store) Invalidate(ctx context.Context, epoch string) error {
	_, err := s.db.Exec(ctx, planeDoubt, epoch)
	return err
}

// ClaimBuild begins a build, or goes on with one whose builder is gone; ok is false when somebody else has done so.
func (s *Store) ClaimBuild(ctx context.Context, seen, next document.GenerationState, now time.Time) (ok bool, err error) {
	n, err := s.db.Exec(ctx, planeClaim, seen.Building, next.Building, next.BuildingServer, nameOf(next.Entity), next.After,
		next.ClaimedUntil.UnixMilli(), now.UnixMilli())
	return n == 1, err
}

func nameOf(e *document.Entity) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// Progress notes how far a build has come and renews its claim; ok is false when the build is another one's now.
func (s *Store) SaveProgress(ctx context.Context, p document.GenerationState) (ok bool, err error) {
	n, err := s.db.Exec(ctx, planeProgress, p.Building, nameOf(p.Entity), p.After, p.ClaimedUntil.UnixMilli())
	return n == 1, err
}

// Finish makes what was built the epoch that counts.
func (s *Store) FinishBuild(ctx context.Context, building string) (ok bool, err error) {
	n, err := s.db.Exec(ctx, planeFinish, building)
	return n == 1, err
}

// Abandon gives a build up.
func (s *Store) AbandonBuild(ctx context.Context, building string) error {
	_, err := s.db.Exec(ctx, planeAbandon, building)
	return err
}
