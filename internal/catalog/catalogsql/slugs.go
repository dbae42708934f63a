package catalogsql

import (
	"context"
	"time"

	"comanda/internal/catalog"
	"comanda/internal/sqldb"
)

// assignSlug makes the slug of a branch follow its name, and returns it. The caller holds the lock of the branch's row. A
// slug is never taken from a branch, so the first free one of the name's is claimed: quan-hoa, then quan-hoa-2. A branch
// that gets an earlier name back has its earlier slug again.
func assignSlug(ctx context.Context, tx sqldb.Tx, b catalog.Branch, now time.Time) (string, error) {
	for n := 1; ; n++ {
		slug := catalog.SlugOf(b.Name, n)
		claimed, err := tx.Exec(ctx, stmt("slug_claim"), slug, b.ID, now.UnixMilli())
		if err != nil {
			return "", err
		}
		if claimed == 0 {
			owner, err := sqldb.Scalar[int64](ctx, tx, stmt("slug_owner"), slug)
			if err != nil {
				return "", err
			}
			if owner != b.ID {
				continue
			}
		}
		tx.Queue(stmt("slug_retire"), b.ID)
		tx.QueueExactly(1, stmt("slug_use"), slug)
		return slug, nil
	}
}

// AssignSlugs names the branches that have no slug yet: those from before slugs were stored, and those that a process of
// an earlier release has created meanwhile.
func (s *Store) AssignSlugs(ctx context.Context, now time.Time) error {
	all, err := sqldb.Collect(ctx, s.db, sqldb.Value[int64], stmt("slug_missing"))
	if err != nil {
		return err
	}
	for _, id := range all {
		err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
			if _, err := sqldb.Scalar[int64](ctx, tx, stmt("branch_lock"), id); err != nil {
				return err
			}
			// Read under the lock: another process may have named the branch, or renamed it.
			b, found, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
			if err == nil && found && b.Slug == "" {
				_, err = assignSlug(ctx, tx, b, now)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BranchBySlug returns the id of the branch that has a slug, or had it before it was renamed; 0 for none.
func (s *Store) BranchBySlug(ctx context.Context, slug string) (int64, error) {
	return sqldb.Scalar[int64](ctx, s.db, stmt("slug_owner"), slug)
}
