package bench

import (
	"errors"
	"slices"
	"testing"

	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

func TestSeed_makesAMenuThatCanBeOrderedFrom(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		tokens := testenv.Must(Seed(t.Context(), db, true))(t)
		repeated, err := Seed(t.Context(), db, true)
		if err != nil || !slices.Equal(tokens, repeated) || len(tokens) != tableCount {
			t.Errorf("%d tokens, then %d: %v", len(tokens), len(repeated), err)
		}
		menu := testenv.Must(catalogsql.New(db, nil).Content(t.Context(), branchID))(t)
		i, c, q := len(menu.Edition.Items), len(menu.Edition.Categories), len(menu.Quotas)
		if i != itemCount || c != categories || q != i {
			t.Errorf("%d items in %d categories, %d quotas", i, c, q)
		}
		for i, it := range menu.Edition.Items {
			want := int64(catalog.MaxQuota)
			if i == itemCount-1 {
				want = 0
			}
			if !it.Active || it.Price != itemPrice || menu.Quotas[it.ID] != want {
				t.Errorf("item %d: %+v with quota %d", i, it, menu.Quotas[it.ID])
			}
			if err := it.Names.Check("A dish", catalog.MaxName); err != nil {
				t.Error(err)
			}
		}
	})
}

// The menu with options has the same dishes, and every order of bench has a valid choice.
func TestSeedOptions(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.Must(Seed(t.Context(), db, true))(t)
		tokens := testenv.Must(SeedOptions(t.Context(), db))(t)
		repeated := testenv.Must(SeedOptions(t.Context(), db))(t)
		if !slices.Equal(tokens, repeated) || len(tokens) != tableCount {
			t.Errorf("%d tokens, then %d, want %d", len(tokens), len(repeated), tableCount)
		}
		var line struct{ Options []catalog.ChosenOption }
		for g := range groupCount {
			line.Options = append(line.Options, catalog.ChosenOption{OptionID: int64(firstID + g*choiceCount + g), Qty: 1})
		}
		menu := testenv.Must(catalogsql.New(db, nil).Content(t.Context(), optionBranch))(t)
		if len(menu.Edition.Items) != itemCount {
			t.Errorf("%d items, want %d", len(menu.Edition.Items), itemCount)
		}
		for _, it := range menu.Edition.Items {
			got, err := it.Configure(line.Options, nil)
			if err != nil || got.Price != itemPrice+groupCount*choicePrice || len(got.Options) != groupCount {
				t.Fatalf("item %d: %+v, %v, want two options", it.ID, got, err)
			}
		}
	})
}

// B2: without consent nothing is written.
func TestSeed_refusesWithoutConsent(t *testing.T) {
	db := sqldbtest.SQLite(t)
	if tokens, err := Seed(t.Context(), db, false); !errors.Is(err, ErrConsent) || tokens != nil {
		t.Errorf("Seed = %v, %v, want ErrConsent only", tokens, err)
	}
	if _, err := catalogsql.New(db, nil).Branch(t.Context(), branchID); !errors.Is(err, catalog.ErrBranch) {
		t.Errorf("something was written: %v", err)
	}
}

func TestSeed_refuses_a_foreign_branch(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		testenv.Must(db.Exec(t.Context(), stmt("branch_insert"), branchID, "Phở 9000", 0))(t)
		if tokens, err := Seed(t.Context(), db, true); !errors.Is(err, ErrTaken) || tokens != nil {
			t.Errorf("Seed = %v, %v, want ErrTaken only", tokens, err)
		}
	})
}
