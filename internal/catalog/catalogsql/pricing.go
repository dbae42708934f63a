package catalogsql

import (
	"context"
	"slices"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/document/documentsql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

// ChangePricing stores the taxes, service charges and discounts of a branch. It refuses tax rates that leave a dish of the
// published menu without one.
func (s *Store) ChangePricing(
	ctx context.Context, by authz.Actor, id int64, p catalog.Pricing, now time.Time,
) (catalog.Branch, error) {
	return s.changeBranch(ctx, by, id, audit.ActionPricingSet, now,
		func(ctx context.Context, tx sqldb.Tx, b catalog.Branch) (catalog.Branch, error) {
			classes, err := selectTaxClasses(ctx, tx)
			if err != nil {
				return b, err
			}
			if err := p.Check(seq.Map(classes, func(c catalog.TaxClass) string { return c.Code })); err != nil {
				return b, err
			}
			b.Pricing = p
			return b, checkTaxed(ctx, tx, b, 0)
		})
}

// maxMissing is the maximum number of dishes that a refusal lists.
const maxMissing = 50

// checkTaxed returns catalog.ErrTaxMissing if a dish of a version, or of the published version for 0, has no tax rate in
// the branch. The caller holds the branch's lock.
func checkTaxed(ctx context.Context, tx sqldb.Tx, b catalog.Branch, version int64) error {
	if len(b.Pricing.Rates) == 0 {
		return nil
	}
	type sold struct {
		ID    int64
		Names catalog.Texts
		Class string
	}
	all, err := sqldb.Collect(ctx, tx, sqldb.Row(func(d *sold) []any {
		return []any{&d.ID, sqldb.JSON(&d.Names), &d.Class}
	}), stmt("sold_classes"), b.ID, version)
	if err != nil {
		return err
	}
	type missing struct {
		DishID   string        `json:"dishId"`
		Names    catalog.Texts `json:"names"`
		TaxClass string        `json:"taxClass"`
	}
	dishes := seq.Map(slices.DeleteFunc(all, func(d sold) bool { return b.Pricing.Taxes(d.Class) }), func(d sold) missing {
		return missing{decimal(d.ID), d.Names, d.Class}
	})
	if len(dishes) == 0 {
		return nil
	}
	return catalog.ErrTaxMissing.With("count", len(dishes)).With("dishes", dishes[:min(maxMissing, len(dishes))])
}

// checkTaxedBranches is checkTaxed for the published versions of branches, whose locks the caller holds.
func checkTaxedBranches(ctx context.Context, tx sqldb.Tx, branches []int64) error {
	for _, id := range branches {
		b, _, err := sqldb.One(ctx, tx, scanBranch, stmt("branch_select"), id)
		if err == nil {
			err = checkTaxed(ctx, tx, b, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func selectTaxClasses(ctx context.Context, c sqldb.Conn) ([]catalog.TaxClass, error) {
	return sqldb.Collect(ctx, c, sqldb.Row(func(t *catalog.TaxClass) []any {
		return []any{&t.Code, sqldb.JSON(&t.Names), &t.Sort, &t.Dishes}
	}), stmt("tax_class_list"))
}

// TaxClasses returns the restaurant's tax classes in their order.
func (s *Store) TaxClasses(ctx context.Context) ([]catalog.TaxClass, error) {
	return selectTaxClasses(ctx, s.db)
}

// taxClassOf returns a tax class, or catalog.ErrTaxClass.
func taxClassOf(ctx context.Context, c sqldb.Conn, code string) (catalog.TaxClass, error) {
	all, err := selectTaxClasses(ctx, c)
	if err != nil {
		return catalog.TaxClass{}, err
	}
	i := slices.IndexFunc(all, func(t catalog.TaxClass) bool { return t.Code == code })
	if i < 0 {
		return catalog.TaxClass{}, catalog.ErrTaxClass
	}
	return all[i], nil
}

// PutTaxClass creates a tax class, or changes its names.
func (s *Store) PutTaxClass(
	ctx context.Context, by authz.Actor, c catalog.TaxClass, now time.Time,
) (stored catalog.TaxClass, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		all, err := selectTaxClasses(ctx, tx)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(all, func(t catalog.TaxClass) bool { return t.Code == c.Code })
		if !known && len(all) >= catalog.MaxTaxClasses {
			return catalog.ErrTooManyTaxClasses
		}
		if _, err := tx.Exec(ctx, stmt("tax_class_put"), c.Code, jsonText(c.Names)); err != nil {
			return err
		}
		if stored, err = taxClassOf(ctx, tx, c.Code); err != nil {
			return err
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, now, audit.ActionTaxClassSet, "taxClass", c.Code, 0).WithAfter(map[string]any{"names": c.Names}))
	})
	return stored, err
}

// DeleteTaxClass deletes a tax class that neither a dish nor a branch uses.
func (s *Store) DeleteTaxClass(ctx context.Context, by authz.Actor, code string, now time.Time) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		if _, err := taxClassOf(ctx, tx, code); err != nil {
			return err
		}
		branches, err := sqldb.Collect(ctx, tx, scanBranch, stmt("branch_list"))
		if err != nil {
			return err
		}
		for _, b := range branches {
			if slices.ContainsFunc(b.Pricing.Rules, func(r catalog.TaxRule) bool { return r.TaxClass == code }) {
				return catalog.ErrTaxClassInUse
			}
		}
		n, err := tx.Exec(ctx, stmt("tax_class_delete"), code)
		if err == nil && n == 0 {
			err = catalog.ErrTaxClassInUse
		}
		if err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionTaxClassDeleted, "taxClass", code, 0))
	})
}

// SetTaxClass sets the tax class of dishes and returns the branches that have them on a menu. Retired dishes are left as
// they are.
func (s *Store) SetTaxClass(
	ctx context.Context, by authz.Actor, class string, dishes []int64, now time.Time,
) (branches []int64, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		branches, err = sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("tax_class_branches"), sqldb.IDs(dishes))
		if err != nil {
			return err
		}
		for _, b := range branches {
			if !by.Sees(b) {
				return catalog.ErrShared
			}
		}
		if class != "" {
			if _, err := taxClassOf(ctx, tx, class); err != nil {
				return err
			}
		}
		changed, err := sqldb.Collect(ctx, tx, sqldb.Value[int64], stmt("tax_class_set"), sqldb.IDs(dishes), class,
			now.UnixMilli(), by.String())
		if err != nil {
			return err
		}
		if len(changed) < len(dishes) {
			return catalog.ErrDish
		}
		if err := checkTaxedBranches(ctx, tx, branches); err != nil {
			return err
		}
		touchBranches(tx, branches)
		documentsql.Changed(tx, now, "dish", seq.Map(changed, decimal)...)
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionTaxClassAssigned, "taxClass", class, 0).
			WithAfter(map[string]any{"dishes": changed}))
	})
	return branches, err
}

// pricingText converts a pricing to a column; a branch without any has an empty text.
func pricingText(p catalog.Pricing) string {
	if p.Empty() {
		return ""
	}
	return jsonText(p)
}
