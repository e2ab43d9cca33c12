"""Operations on variables and what they hold."""
