// Package menufile reads and writes menus as spreadsheets: CSV, XLSX, and a ZIP archive of one of them with pictures.
//
// Read recognizes three shapes by their header row: the template of this package, and the catalog exports of Square and
// Loyverse. It returns the dishes, or every problem that it finds, each with its row and column, so that an owner can
// correct a file in one go. Row and column are those that a spreadsheet program shows.
//
// Tax classes, allergens and diets are written as words. An empty cell keeps what is stored, so that a file without these
// columns changes none of them; a dish without allergens has the word none, because an empty cell states nothing.
//
// Files are untrusted. Sizes, rows, columns, cells and archives are limited before anything is decoded, and Read never
// panics. Prices are read as people write them in the branch's currency. A price that could mean two amounts is a
// problem: a guess would be wrong by a factor of a thousand.
//
// Write is the inverse of Read: reading a written file returns the same dishes. Texts that a spreadsheet program would
// execute as a formula are written with a leading apostrophe, which Read removes.
package menufile
