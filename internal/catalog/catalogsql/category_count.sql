SELECT COUNT(*) FROM category
