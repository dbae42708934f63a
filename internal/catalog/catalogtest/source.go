package catalogtest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/catalog"
)

// SourceSuite is the conformance suite of catalog.Source. In s, branch 1 has a published menu, and branch 999 and
// version 999 do not exist.
func SourceSuite(t *testing.T, s catalog.Source) {
	t.Helper()
	ctx := t.Context()
	b, err := s.Branch(ctx, 1)
	if err != nil || b.ID != 1 || b.Calendar() == nil {
		t.Fatalf("branch 1 is %+v, %v", b, err)
	}
	c, err := s.Content(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Revision != b.Revision || c.Edition.BranchID != 1 {
		t.Errorf("revision %d of branch %d, want %d of 1", c.Revision, c.Edition.BranchID, b.Revision)
	}
	if _, ok := c.Edition.Item(c.Edition.Items[0].ID); !ok {
		t.Error("the first item is not found by its id")
	}
	e, err := s.Edition(ctx, c.Edition.VersionID)
	if d := cmp.Diff(c.Edition, e, cmp.AllowUnexported(catalog.Edition{})); err != nil || d != "" {
		t.Errorf("the published version by its id: %v %s", err, d)
	}
	_, noBranch := s.Branch(ctx, 999)
	_, noMenu := s.Content(ctx, 999)
	_, noVersion := s.Edition(ctx, 999)
	for _, c := range []struct{ got, want error }{
		{noBranch, catalog.ErrBranch}, {noMenu, catalog.ErrMenu}, {noVersion, catalog.ErrVersion},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}
