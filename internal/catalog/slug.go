package catalog

import (
	"cmp"
	"strconv"
	"strings"

	"comanda/internal/text"
)

// maxSlug is the maximum length of a slug in characters, without the number that makes it unique.
const maxSlug = 60

// SlugOf returns the nth slug of a branch's name, from 1: quan-hoa, quan-hoa-2. In public addresses a branch is
// identified by its slug or its id, so no slug consists of digits alone.
func SlugOf(name string, n int) string {
	slug := cmp.Or(text.Slug(name, maxSlug), "branch")
	if strings.Trim(slug, "0123456789") == "" {
		slug = "branch-" + slug
	}
	if n > 1 {
		slug += "-" + strconv.Itoa(n)
	}
	return slug
}
